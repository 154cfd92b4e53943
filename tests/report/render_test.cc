#include "tra/report/render.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <utility>

#include "tests/report/runs.h"
#include "tra/report/specs.h"

namespace tra {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// Returns a table of two lines with the paper's numbers below each; cells differ in their number of seeds, one is
// missing and one is NaN.
Table Small() {
  const TableSpec spec = {
      "small",
      "Exact match in percent",
      {{"Flip-flop IID", {"flipflop", "iid", "", 0, "em"}}, {"Copy OOD (51-100)", {"copy", "51-100", "", 0, "em"}}}};
  return BuildTable(spec,
                    {RunOf("flipflop", "rope", 1, {Em("iid", 0.5)}), RunOf("flipflop", "rope", 2, {Em("iid", 0.75)}),
                     RunOf("flipflop", "tra", 1, {Em("iid", 1)}), RunOf("flipflop", "tra", 2, {Em("iid", 1)}),
                     RunOf("copy", "rope", 1, {Em("51-100", kNan)}),
                     RunOf("copy", "tra", 1, {Em("51-100", 0.875)}, "a|b & c_d 100%, \"e\"")},
                    {/*paper=*/true});
}

// Returns a table of one line with the same number of seeds everywhere.
Table Plain() {
  const TableSpec spec = {"plain", "Test perplexity", {{"Perplexity", {"text", "test", "", 128, "ppl_token"}}}};
  std::vector<RunResults> runs = {RunOf("text", "fot", 1, {Perplexity(128, 30.25)}),
                                  RunOf("text", "tra", 1, {Perplexity(128, 30)})};
  for (RunResults& run : runs) run.context = {{"tokenizer", "gpt2"}, {"stride", 64}};
  return BuildTable(spec, runs, {});
}

TEST(Render, Markdown) {
  EXPECT_EQ(RenderTables({Small(), Plain()}, "md"),
            R"(**small**: Exact match in percent; mean ± std over seeds, n=1 to 2.

|  | RoPE | TRA | TRA (a\|b \& c\_d 100%, "e") |
|---|---:|---:|---:|
| Flip-flop IID | 62.50 ± 17.68 (n=2) | **100.00 ± 0.00** (n=2) | - |
| *paper* | 100.00 ± 0.00 | 100.00 ± 0.00 |  |
| Copy OOD (51-100) | nan (n=1) | - | **87.50** (n=1) |
| *paper* | 4.44 ± 4.79 | 100.00 ± 0.00 |  |

- paper: mean ± std over 4 seeds as published, in the first column of each attention.

**plain**: Test perplexity; one seed, n=1; tokenizer gpt2; stride 64.

|  | FoT | TRA |
|---|---:|---:|
| Perplexity | 30.25 | **30.00** |
)");
}

TEST(Render, TextIsAlignedWhateverItsNumbers) {
  const TableSpec spec = {"t", "T", {{"Perplexity", {"text", "test", "", 128, "ppl_token"}}}};
  const std::vector<RunResults> runs = {
      RunOf("text", "rope", 1, {Perplexity(128, 1.5e9)}), RunOf("text", "rope", 2, {Perplexity(128, 2.5e9)}),
      RunOf("text", "tra", 1, {Perplexity(128, 30)}), RunOf("text", "tra", 2, {Perplexity(128, 32)})};
  EXPECT_EQ(RenderTables({BuildTable(spec, runs, {})}, "text"),
            "t: T; mean ± std over seeds, n=2; tokenizer not recorded; stride not recorded\n"
            "\n"
            "|            |                RoPE |           TRA |\n"
            "|------------|--------------------:|--------------:|\n"
            "| Perplexity | 2.00e+09 ± 7.07e+08 | *31.00 ± 1.41 |\n");
}

TEST(Render, TheSummaryOfATaskHasItsSettingsInRows) {
  const std::vector<RunResults> runs = {RunOf("copy", "tra", 1, {Em("iid", 1), Em("51-100", 0.5)}, "heads=1"),
                                        RunOf("copy", "tra", 1, {Em("iid", 1), Em("51-100", 1)}, "heads=4"),
                                        RunOf("text", "tra", 1, {Perplexity(128, 30), Perplexity(128, 2, "ppl_word")})};
  EXPECT_EQ(RenderTables({BuildTable(SummaryTable("copy", runs), runs, {})}, "text"),
            "summary: copy: exact match, %; one seed, n=1\n"
            "\n"
            "|               |    iid |  51-100 |               solved |\n"
            "|---------------|-------:|--------:|---------------------:|\n"
            "| TRA (heads=1) | 100.00 |   50.00 |  0 of 1 [0.00, 0.79] |\n"
            "| TRA (heads=4) | 100.00 | *100.00 | *1 of 1 [0.21, 1.00] |\n");
  EXPECT_EQ(SummaryTable("text", runs).lines.size(), 1u);
}

TEST(Render, Html) {
  const std::string html = RenderTables({Small()}, "html");
  EXPECT_EQ(html.rfind("<div class=\"wide\" role=\"region\" tabindex=\"0\" aria-label=\"table small\">", 0), 0U)
      << html;
  for (const char* part :
       {"<caption>Exact match in percent; mean ± std over seeds, n=1 to 2.</caption>",
        "<tr><td></td><th scope=\"col\">RoPE</th><th scope=\"col\">TRA</th><th scope=\"col\">TRA (a|b &amp; c_d 100%, "
        "&quot;e&quot;)</th></tr>",
        "<tr class=\"part\"><th scope=\"row\">Flip-flop IID</th><td>62.50 ± 17.68 (n=2)</td>"
        "<td><b>100.00 ± 0.00</b> (n=2)</td><td>-</td></tr>",
        "<tr class=\"paper\"><th scope=\"row\"><i>paper</i></th><td>100.00 ± 0.00</td>",
        "<ul class=\"notes\">\n<li>paper: "}) {
    EXPECT_NE(html.find(part), std::string::npos) << part << "\n" << html;
  }
}

TEST(Render, Latex) {
  EXPECT_EQ(RenderTables({Small(), Plain()}, "latex"),
            R"(% \usepackage{booktabs,adjustbox}
\begin{table*}
  \centering
  \caption{Exact match in percent; mean $\pm$ std over seeds, n=1 to 2.}
  \label{tab:small}
  \begin{adjustbox}{max width=\textwidth}
  \begin{tabular}{lccc}
    \toprule
     & RoPE & TRA & TRA (a\textbar{}b \& c\_d 100\%, "e") \\
    \midrule
    Flip-flop IID & 62.50 $\pm$ 17.68 (n=2) & \textbf{100.00 $\pm$ 0.00} (n=2) & - \\
    \quad\textit{paper} & 100.00 $\pm$ 0.00 & 100.00 $\pm$ 0.00 &  \\
    \midrule
    Copy OOD (51-100) & nan (n=1) & - & \textbf{87.50} (n=1) \\
    \quad\textit{paper} & 4.44 $\pm$ 4.79 & 100.00 $\pm$ 0.00 &  \\
    \bottomrule
  \end{tabular}
  \end{adjustbox}
  \par\footnotesize paper: mean $\pm$ std over 4 seeds as published, in the first column of each attention.
\end{table*}
\begin{table*}
  \centering
  \caption{Test perplexity; one seed, n=1; tokenizer gpt2; stride 64.}
  \label{tab:plain}
  \begin{adjustbox}{max width=\textwidth}
  \begin{tabular}{lcc}
    \toprule
     & FoT & TRA \\
    \midrule
    Perplexity & 30.25 & \textbf{30.00} \\
    \bottomrule
  \end{tabular}
  \end{adjustbox}
\end{table*}
)");
}

TEST(Render, Csv) {
  EXPECT_EQ(RenderTables({Small(), Plain()}, "csv"),
            R"(table,line,attention,label,n,mean,std,min,median,max,source
small,Flip-flop IID,rope,,2,62.5,17.67766952966369,50,62.5,75,ours
small,Flip-flop IID,tra,,2,100,0,100,100,100,ours
small,Flip-flop IID,rope,,4,100,0,,,,paper
small,Flip-flop IID,tra,,4,100,0,,,,paper
small,Copy OOD (51-100),rope,,1,nan,,nan,nan,nan,ours
small,Copy OOD (51-100),tra,"a|b & c_d 100%, ""e""",1,87.5,,87.5,87.5,87.5,ours
small,Copy OOD (51-100),rope,,4,4.44,4.79,,,,paper
small,Copy OOD (51-100),tra,,4,100,0,,,,paper
plain,Perplexity,fot,,1,30.25,,30.25,30.25,30.25,ours
plain,Perplexity,tra,,1,30,,30,30,30,ours
)");
}

TEST(Render, Json) {
  constexpr char kTables[] = R"json(
{"format":"tra-tables","version":1,"tables":[{"table":"small",
"caption":"Exact match in percent; mean ± std over seeds, n=1 to 2",
"columns":[{"attention":"rope","label":"","title":"RoPE"},
{"attention":"tra","label":"","title":"TRA"},
{"attention":"tra","label":"a|b & c_d 100%, \"e\"","title":"TRA (a|b & c_d 100%, \"e\")"}],
"lines":[{"line":"Flip-flop IID","task":"flipflop","split":"iid","group":"","window":0,"metric":"em",
"scale":100.0,"better":"higher","cells":[
{"n":2,"mean":62.5,"std":17.67766952966369,"min":50.0,"median":62.5,"max":75.0,"best":false},
{"n":2,"mean":100.0,"std":0.0,"min":100.0,"median":100.0,"max":100.0,"best":true},null],
"paper":[{"n":4,"mean":100.0,"std":0.0},{"n":4,"mean":100.0,"std":0.0},null]},
{"line":"Copy OOD (51-100)","task":"copy","split":"51-100","group":"","window":0,"metric":"em",
"scale":100.0,"better":"higher","cells":[
{"n":1,"mean":null,"min":null,"median":null,"max":null,"best":false},null,
{"n":1,"mean":87.5,"min":87.5,"median":87.5,"max":87.5,"best":true}],
"paper":[{"n":4,"mean":4.44,"std":4.79},{"n":4,"mean":100.0,"std":0.0},null]}],
"footnotes":["paper: mean ± std over 4 seeds as published, in the first column of each attention"]}]}
)json";
  // kTables has no indentation; the output is indented like a results file.
  EXPECT_EQ(RenderTables({Small()}, "json"), nlohmann::ordered_json::parse(kTables).dump(1) + "\n");
}

// Returns a table with settings in rows, which says how many runs solve their task.
Table SettingsInRows() {
  const std::vector<RunResults> runs = {
      RunOf("flipflop", "tra", 1, {Em("iid", 1), Em("sparse", 1)}, "heads=4"),
      RunOf("flipflop", "tra", 2, {Em("iid", 1), Em("sparse", 1)}, "heads=4"),
      RunOf("flipflop", "tra", 1, {Em("iid", 1), Em("sparse", 0.5)}, "heads=1"),
      RunOf("flipflop", "tra", 2, {Em("iid", 1), Em("sparse", 1)}, "heads=1"),
  };
  return BuildTable(SolvedTable(runs), runs, {/*paper=*/true});  // ignored: no place for the paper's numbers
}

TEST(Render, SettingsMayStandInRows) {
  EXPECT_EQ(
      RenderTables({SettingsInRows()}, "md"),
      R"(**solved**: Exact match in percent by split, and runs that have 100 on all of them; mean ± std over seeds, n=2.

|  | iid | sparse | solved |
|---|---:|---:|---:|
| TRA (heads=1) | 100.00 ± 0.00 | 75.00 ± 35.36 | 1 of 2 [0.09, 0.91] |
| TRA (heads=4) | 100.00 ± 0.00 | **100.00 ± 0.00** | **2 of 2 [0.34, 1.00]** |
)");
  const std::string latex = RenderTables({SettingsInRows()}, "latex");
  EXPECT_NE(latex.find(R"(
    \toprule
     & iid & sparse & solved \\
    \midrule
    TRA (heads=1) & 100.00 $\pm$ 0.00 & 75.00 $\pm$ 35.36 & 1 of 2 [0.09, 0.91] \\
    TRA (heads=4) & 100.00 $\pm$ 0.00 & \textbf{100.00 $\pm$ 0.00} & \textbf{2 of 2 [0.34, 1.00]} \\
    \bottomrule)"),
            std::string::npos)
      << latex;
}

TEST(Render, WhatIsNotFiniteHasNoDeviation) {
  const TableSpec spec = {"t", "T", {{"Copy", {"copy", "iid", "", 0, "em"}}}};
  for (const auto& [value, printed] : {std::pair(kNan, "nan"), std::pair(HUGE_VAL, "inf")}) {
    const std::vector<RunResults> runs = {RunOf("copy", "tra", 1, {Em("iid", value)}),
                                          RunOf("copy", "tra", 2, {Em("iid", 1)})};
    const std::string text = RenderTables({BuildTable(spec, runs, {})}, "md");
    EXPECT_NE(text.find("| Copy | " + std::string(printed) + " |\n"), std::string::npos) << text;
  }
}

Table Titled(const std::string& label) {
  Table table;
  table.name = "t";
  table.columns = {{"x", label}};
  return table;
}

TEST(Render, SpecialCharactersAreTextInEveryFormat) {
  const auto has = [](const std::string& label, const char* format, const std::string& text) {
    return RenderTables({Titled(label)}, format).find("x (" + text + ")") != std::string::npos;
  };
  EXPECT_TRUE(has("\\ ` * _ | < > & [ ] ~ # % $", "md", R"(\\ \` \* \_ \| \< \> \& \[ \] \~ # % $)"));
  EXPECT_TRUE(has("& % $ # _ { }", "latex", R"(\& \% \$ \# \_ \{ \})"));
  EXPECT_TRUE(has("\\ ~ ^ < > |", "latex",
                  R"(\textbackslash{} \textasciitilde{} \textasciicircum{} \textless{} \textgreater{} \textbar{})"));
  EXPECT_TRUE(has("a\n\nb", "md", "a  b"));
  EXPECT_TRUE(has("a\n\nb", "latex", "a  b"));
}

TEST(Render, UnknownFormatNamesThoseThereAre) {
  try {
    RenderTables({}, "jsn");
    FAIL() << "no error";
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(),
                 "unknown table format 'jsn'; did you mean 'json'? There are md, text, latex, html, csv, json");
  }
}

// Results may come from anybody, and tables go to spreadsheets, terminals and LaTeX.
TEST(Render, StrangersLabelsAreOnlyText) {
  Table table = Plain();
  const auto with = [&](const std::string& label, const char* format) {
    table.columns[1].label = label;
    return RenderTables({table}, format);
  };
  EXPECT_NE(with("=cmd|' /C calc'!A0", "csv").find(",tra,'=cmd|' /C calc'!A0,"), std::string::npos);
  EXPECT_NE(with("@SUM(A1,A2)", "csv").find(",tra,\"'@SUM(A1,A2)\","), std::string::npos);
  EXPECT_NE(with("-1e-3", "csv").find(",tra,-1e-3,"), std::string::npos);  // a number is no formula
  EXPECT_NE(with("heads=4", "csv").find(",tra,heads=4,"), std::string::npos);
  for (const char* format : {"md", "latex", "csv"}) {
    const std::string text = with("a\rb\x1b[31m\x7f", format);
    EXPECT_EQ(text.find_first_of("\r\x1b\x7f"), std::string::npos) << text;
    EXPECT_NE(text.find("a b "), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace tra
