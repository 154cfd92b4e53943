// Turns numbers and tokens into what is shown.

const proper = (digits: string) => digits.replaceAll('-', '−');

// Returns all digits of a float32, as the server sent them; null is what the server sends for what is not finite.
export function exact(value: number | null): string {
  return value === null ? '−∞' : proper(String(value));
}

// Returns a number that fits a column: four decimals, or an exponent where these would show nothing.
export function short(value: number | null): string {
  if (value === null) return '−∞';
  if (value === 0) return '0';
  const size = Math.abs(value);
  if (size >= 1e5 || size < 5e-5) return proper(value.toExponential(1));
  if (Number.isInteger(value)) return proper(String(value));
  if (size < 1 && size >= 0.99995) return value > 0 ? '0.9999+' : '−0.9999+';
  return proper(value.toFixed(size >= 1000 ? 1 : size >= 100 ? 2 : 4));
}

// Returns a probability in percent that says 0 or 100 only where that is so.
export function percent(share: number): string {
  if (share === 0 || share === 1) return `${share * 100}%`;
  if (share < 0.001) return '<0.1%';
  if (share >= 0.9995) return '>99.9%';
  return `${(share * 100).toFixed(1)}%`;
}

export function count(value: number, one: string, many = `${one}s`): string {
  return `${value.toLocaleString('en')} ${value === 1 ? one : many}`;
}

// Returns a token as it is shown: spaces and line ends would be invisible.
export function visible(text: string): string {
  if (text === '') return '∅';
  return text.replaceAll(' ', '␣').replaceAll('\n', '⏎').replaceAll('\t', '⇥');
}
