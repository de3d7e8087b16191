"""How an HTML report looks: on a wide screen, on a phone, on paper, by day and by night."""

from __future__ import annotations

STYLE = """
:root {
  --paper: #fff; --raised: #f6f7f9; --ink: #1b1f24; --soft: #565f6b; --line: #dfe3e8; --link: #0b57b0;
  --good: #1a7245; --fair: #8a5a00; --poor: #b3362b; --plain: #5c6470; --tint: #eef4fc; --warn: #fff6e0;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #14171b; --raised: #1d2127; --ink: #e6e9ed; --soft: #a3acb8; --line: #343b44; --link: #8dbdff;
    --good: #6fcf97; --fair: #e8b35a; --poor: #ff9389; --plain: #a3acb8; --tint: #1a2636; --warn: #2d2615;
  }
}
*, ::before, ::after { box-sizing: border-box; }
html { scroll-behavior: smooth; -webkit-text-size-adjust: 100%; }
body {
  margin: 0; background: var(--paper); color: var(--ink); overflow-wrap: break-word;
  font: 1.0625rem/1.6 ui-serif, Charter, "Bitstream Charter", "Iowan Old Style", Georgia, Cambria, serif;
}
main { max-width: 66rem; margin: 0 auto; padding: 3.5rem 2rem 6rem; }
header, section, nav { max-width: 44rem; }
#table, #sources { max-width: none; }
h1, h2, h3, th, nav, .label, .byline, .hint, .from, .confidence, .verdict, .status, .missing, .note, summary, .number,
.address, footer, .peek .from, .reason { font-family: system-ui, "Segoe UI", Roboto, "Helvetica Neue", sans-serif; }
h1 { font-size: 2.1rem; line-height: 1.2; letter-spacing: -.015em; margin: 0 0 .75rem; text-wrap: balance; }
h2 { font-size: 1.3rem; line-height: 1.3; letter-spacing: -.01em; margin: 3rem 0 .75rem; }
h3 { font-size: 1rem; margin: 0 0 .5rem; }
p { margin: 0 0 .75rem; }
ul { margin: 0; padding-left: 1.2rem; }
a { color: var(--link); text-underline-offset: .15em; text-decoration-thickness: 1px; }
a:focus-visible, summary:focus-visible, [tabindex]:focus-visible { outline: 2px solid; outline-offset: 2px; }
.label { font-size: .75rem; font-weight: 650; color: var(--soft); letter-spacing: .02em; margin: 0 0 .15rem; }
.question { font-size: 1.15rem; color: var(--soft); }
.question .label { display: block; }
.byline, .hint, .from, .address, footer, .reason { font-size: .85rem; color: var(--soft); line-height: 1.45; }
.answer, .notes { border-radius: 10px; padding: 1.1rem 1.4rem; }
.answer { background: var(--tint); margin: 1.75rem 0 0; font-size: 1.15rem; }
.notes { background: var(--warn); margin: 1rem 0 0; font-size: .95rem; }
.answer h2, .notes h2 { font-size: .85rem; margin: 0 0 .3rem; letter-spacing: 0; }
.answer h2 { color: var(--link); } .notes h2 { color: var(--fair); }
.answer p { margin: 0; }
nav { margin-top: 1.75rem; font-size: .875rem; border-top: 1px solid var(--line); padding-top: .9rem; }
nav ol { list-style: none; margin: 0; padding: 0; display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; }
nav a { text-decoration: none; } nav a:hover { text-decoration: underline; }

.wide { overflow-x: auto; margin: 1rem 0; }
table { border-collapse: collapse; width: 100%; font-size: .92rem; line-height: 1.45; }
th, td { text-align: start; vertical-align: top; padding: .7rem .9rem; border-bottom: 1px solid var(--line); }
th:first-child, td:first-child { padding-left: 0; }
thead th { font-size: .8rem; font-weight: 600; color: var(--soft); border-bottom: 2px solid var(--line);
  vertical-align: bottom; }
tbody th { font-weight: 600; } tbody th .from { font-weight: 400; }
.table-rows th, .table-rows td { min-width: 8rem; max-width: 22rem; }
.value { display: block; }
.missing { color: var(--soft); font-style: italic; font-size: .85rem; font-weight: 400; }
.note { display: block; color: var(--fair); font-size: .8rem; font-weight: 400; margin-top: .2rem; }
.confidence { display: block; font-size: .75rem; font-weight: 400; color: var(--soft); margin-top: .15rem; }
.confidence::before, .status::before {
  content: ""; display: inline-block; width: .55em; height: .55em; border-radius: 50%; margin-right: .4em;
  background: currentColor; vertical-align: .05em;
}
.confidence.high::before { color: var(--good); } .confidence.medium::before { color: var(--fair); }
.confidence.low::before { color: var(--poor); }
.confidence.none::before { background: none; border: 1px solid currentColor; }
.status { white-space: nowrap; font-size: .85rem; }
.status.read::before { color: var(--good); } .status.error::before { color: var(--poor); }
.status.blocked::before, .status.forbidden::before { color: var(--fair); }
.status.empty::before { background: none; border: 1px solid currentColor; }

.cites { font: 600 .72em/1 system-ui, sans-serif; vertical-align: .35em; white-space: nowrap; }
.cites::before { content: "\\2060"; }
.cite { margin-left: .2em; }
.cite > a { text-decoration: none; padding: .2em .05em; } .cite > a:hover { text-decoration: underline; }
.peek {
  display: none; position: fixed; z-index: 1; left: 50%; bottom: 1.25rem; transform: translateX(-50%);
  width: min(42rem, calc(100vw - 2rem)); padding: .9rem 1.2rem; border-radius: 10px; white-space: normal;
  background: var(--raised); color: var(--ink); border: 1px solid var(--line); box-shadow: 0 8px 30px rgb(0 0 0 / .22);
  font: 1rem/1.5 ui-serif, Charter, Georgia, serif; text-align: start;
}
.peek q { display: block; quotes: "“" "”"; } .peek .from { display: block; margin-top: .35rem; font-weight: 400; }
.cite:hover .peek, .cite:focus-within .peek { display: block; }

blockquote { margin: .6rem 0 0; padding: .1rem 0 .1rem .9rem; border-left: 2px solid var(--line); font-size: .95rem; }
blockquote p { margin: 0; }
.claim { border-top: 1px solid var(--line); padding: 1rem 0 1.1rem; }
.claim:last-child { border-bottom: 1px solid var(--line); }
.verdict { display: inline-block; font-size: .8rem; font-weight: 650; margin: 0 0 .3rem; color: var(--plain); }
.verdict::before { display: inline-block; width: 1.3em; }
.supported .verdict { color: var(--good); } .supported .verdict::before { content: "✓"; }
.contradicted .verdict { color: var(--poor); } .contradicted .verdict::before { content: "✕"; }
.partly-supported .verdict { color: var(--fair); } .partly-supported .verdict::before { content: "◐"; }
.qualified .verdict { color: var(--fair); } .qualified .verdict::before { content: "±"; }
.not-checked .verdict::before { content: "–"; }
.claimed { margin: 0 0 .3rem; } .claimed .from { display: block; } .reason { margin: 0; }
.unfound li { margin-bottom: .6rem; } .unfound .from { display: block; }

.references { list-style: none; margin: 0; padding: 0; }
.references > li { display: grid; grid-template-columns: 2.75rem 1fr; padding: .8rem 0; scroll-margin-top: 1rem;
  border-top: 1px solid var(--line); }
.references > li:target { background: var(--tint); box-shadow: 0 0 0 .5rem var(--tint); border-radius: 2px; }
.references p { margin: 0; } .references .title { font-weight: 600; }
.number { font-size: .85rem; color: var(--soft); padding-top: .15rem; font-variant-numeric: tabular-nums; }
.address { font-size: .8rem; } .references, .sources-rows th, .unfound { overflow-wrap: anywhere; }
summary { cursor: pointer; font-size: .9rem; color: var(--soft); }
.rounds { list-style: none; margin: 0; padding: 0; }
.rounds > li { position: relative; margin-left: .5rem; padding: 0 0 1.75rem 1.9rem;
  border-left: 2px solid var(--line); }
.rounds > li:last-child { border-left-color: transparent; padding-bottom: 0; }
.rounds > li::before { content: ""; position: absolute; left: -.5rem; top: .3rem; width: .875rem; height: .875rem;
  border-radius: 50%; background: var(--paper); border: 3px solid var(--link); }
.rounds div { margin-bottom: .7rem; font-size: .95rem; }
.rounds ul { list-style: disc; } .rounds .closed .label { color: var(--good); }
.rounds .open .label { color: var(--fair); } .stopped { font-size: .95rem; margin: 0; }

@media (max-width: 40rem) {
  main { padding: 2rem 1.1rem 4rem; }
  h1 { font-size: 1.6rem; } h2 { margin-top: 2.4rem; }
  .answer { font-size: 1.05rem; }
  .answer, .notes { padding: .9rem 1.1rem; }
  table, tbody, tr, th, td { display: block; }
  thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  th, td { padding: .1rem 0; border: 0; }
  .sources-rows tr { padding: .7rem 0; border-bottom: 1px solid var(--line); } .sources-rows td:empty { display: none; }
  .table-rows tr { border: 1px solid var(--line); border-radius: 10px; padding: .5rem 1rem; margin-bottom: .9rem; }
  .table-rows th, .table-rows td { padding: .5rem 0; max-width: none; } .table-rows tbody th { font-size: 1.1rem; }
  .table-rows td + td { border-top: 1px solid var(--line); }
  .table-rows td::before { content: attr(data-column); display: block; font: 600 .75rem/1.5 system-ui, sans-serif;
    color: var(--soft); }
  .references > li { grid-template-columns: 2.25rem 1fr; }
}
@media print {
  :root {
    --paper: #fff; --raised: #fff; --ink: #000; --soft: #444; --line: #bbb; --link: #0b3d80; --tint: #fff;
    --warn: #fff; --good: #14593a; --fair: #6b4600; --poor: #8e2a21; --plain: #444;
  }
  body { font-size: 10.5pt; } main { padding: 0; max-width: none; } header, section { max-width: none; }
  nav, .peek { display: none !important; }
  .answer, .notes { border: 1px solid var(--line); }
  .wide { overflow: visible; } table { font-size: 9pt; }
  .table-rows th, .table-rows td { min-width: 0; padding: .35rem; }
  thead { display: table-header-group; } tr, .claim, .references > li { break-inside: avoid; }
  h2, h3 { break-after: avoid; }
  details::details-content { content-visibility: visible; block-size: auto; }
}
@media (prefers-reduced-motion: reduce) { html { scroll-behavior: auto; } }
"""
