import { createHash } from 'node:crypto';
import { Markup } from './markup.ts';
import { DOCS_SCRIPT_HASH } from './script.ts';

/** The colours of the dashboard (`web/src/styles/tokens.css`; a test compares them). No other host. */
const STYLE = `
:root { color-scheme: light dark;
  --ground: light-dark(#f4f6f8, #0d1218); --surface: light-dark(#ffffff, #141b23);
  --sunken: light-dark(#eef1f5, #0f151c); --ink: light-dark(#15202b, #e4eaf1);
  --soft: light-dark(#51606f, #9cabbb); --line: light-dark(#dce2e9, #26313d);
  --accent: light-dark(#0a5ca8, #6db5f8); --accent-wash: light-dark(#e4effa, #14293d);
  --focus: light-dark(#0a6fd1, #7cc0ff);
  --good: light-dark(#176d3f, #67d391); --warn: light-dark(#8a5200, #f0b65b);
  --warn-wash: light-dark(#fdf1dc, #2e2310); --later: light-dark(#5c45b0, #b3a3f5); }
* { box-sizing: border-box; }
body { margin: 0; line-height: 1.55; font-family: system-ui, sans-serif;
  background: var(--ground); color: var(--ink); }
a { color: var(--accent); } :focus-visible { outline: 2px solid var(--focus); outline-offset: 2px; }
header { display: flex; gap: 1rem; align-items: center; padding: 0.6rem 1.25rem; position: sticky;
  top: 0; z-index: 2; height: 3.4rem; background: var(--surface); border-bottom: 1px solid var(--line); }
header form { margin-left: auto; position: relative; } .contents-button { display: none; } .brand { font-weight: 700; text-decoration: none; }
input, button { font: inherit; color: inherit; background: var(--ground); border: 1px solid var(--line);
  border-radius: 5px; padding: 0.25rem 0.6rem; }
input { width: 22rem; max-width: 40vw; }
#found { position: absolute; right: 0; top: calc(100% + 0.4rem); width: min(40rem, 94vw); max-height: 75vh;
  overflow-y: auto; padding: 0.25rem 1rem 0.75rem; background: var(--surface); color: var(--ink);
  border: 1px solid var(--line); border-radius: 8px; box-shadow: 0 8px 30px #0004; }
#found p { color: var(--soft); font-size: 0.9em; margin: 0.5rem 0; }
#found ol, #results ol { list-style: none; margin: 0; padding: 0; }
#found li a, #results li a { display: block; padding: 0.45rem 0.5rem; border-radius: 5px; text-decoration: none; }
#found li a:is(:hover, :focus), #results li a:is(:hover, :focus) { background: var(--accent-wash); }
.excerpt { display: block; color: var(--ink); font-size: 0.9em; overflow-wrap: anywhere; }
mark { background: var(--warn-wash); color: inherit; border-radius: 2px; }
.frame { display: grid; grid-template-columns: 15rem minmax(0, 1fr); max-width: 84rem; margin: 0 auto; }
.frame > nav { padding: 1rem 0.5rem 3rem 1.25rem; font-size: 0.92rem; position: sticky; top: 3.4rem;
  align-self: start; max-height: calc(100vh - 3.4rem); overflow-y: auto; }
@media (min-width: 50.01rem) { .frame > nav { display: block; border: 0; margin: 0; width: auto; height: auto;
  background: none; color: inherit; inset: auto; top: 3.4rem; } }
.frame > nav p { margin: 1rem 0 0.2rem; font-weight: 600; color: var(--soft); }
.frame > nav ul { list-style: none; margin: 0; padding: 0; } .frame > nav ul ul { padding-left: 0.8rem; }
.frame > nav a { display: block; padding: 0.12rem 0.5rem; border-radius: 5px; text-decoration: none;
  color: inherit; }
.frame > nav a[aria-current] { background: var(--accent-wash); color: var(--accent); }
main { padding: 1rem 2rem 6rem; background: var(--surface); border-left: 1px solid var(--line);
  min-height: 90vh; min-width: 0; }
h1 { margin: 0.5rem 0; } h2 { margin: 2.5rem 0 0.5rem; border-bottom: 1px solid var(--line); }
h3 { margin: 2rem 0 0.25rem; font-size: 1.1rem; } h4 { margin: 1.25rem 0 0.25rem; }
h1, h2, h3, h4 { scroll-margin-top: 4.2rem; }
.anchor { color: inherit; text-decoration: none; } .anchor:hover { text-decoration: underline; }
code, pre { font-family: ui-monospace, monospace; font-size: 0.9em; }
pre { overflow-x: auto; padding: 0.75rem; border-radius: 8px; background: var(--sunken); margin: 0; }
.code { position: relative; margin: 1rem 0; }
.copy { position: absolute; top: 0.4rem; right: 0.4rem; font-size: 0.8rem; padding: 0.1rem 0.5rem;
  background: var(--surface); color: var(--soft); cursor: pointer; opacity: 0; }
.code:hover .copy, .copy:focus-visible { opacity: 1; } @media (hover: none) { .copy { opacity: 1; } }
.hljs-comment, .hljs-meta { color: var(--soft); }
.hljs-keyword, .hljs-literal, .hljs-symbol { color: var(--later); }
.hljs-string, .hljs-regexp { color: var(--good); }
.hljs-number, .hljs-variable, .hljs-subst .hljs-variable { color: var(--warn); } .hljs-subst { color: var(--ink); }
.hljs-attr, .hljs-built_in, .hljs-title, .hljs-property { color: var(--accent); }
.pair > div { min-width: 0; }
@media (min-width: 70rem) { .pair { display: grid; grid-template: auto auto / 1fr 1fr; gap: 0 1.25rem; }
  .pair > div { display: grid; grid-row: span 2; grid-template: subgrid / minmax(0, 1fr); align-items: end; }
  .pair .code { align-self: start; margin-top: 0; } .frame:has(.pair) { max-width: 100rem; } }
.table { overflow-x: auto; } table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: 0.3rem 0.75rem 0.3rem 0; }
td { border-top: 1px solid var(--line); } th { font-weight: 600; }
img { max-width: 100%; border: 1px solid var(--line); border-radius: 8px; }
main.alone { max-width: 42rem; min-height: 0; margin: 2rem auto; padding: 1rem 2rem 1.5rem;
  border: 1px solid var(--line); border-radius: 8px; } .alone h1 { font-size: 1.4rem; }
main p, main li { overflow-wrap: anywhere; }
.about { color: var(--soft); font-size: 0.9em; }
.first { padding-left: 1.1rem; }
@media (max-width: 50rem) { .frame { display: block; } main { border-left: 0; padding: 1rem 1rem 4rem; }
  header { flex-wrap: wrap; height: auto; gap: 0.5rem 0.75rem; padding: 0.5rem 1rem; }
  .contents-button { display: block; } header form { order: 1; flex: 1 0 100%; margin: 0; }
  header > a:last-of-type { margin-left: auto; } input { width: 100%; max-width: none; }
  #found { left: 0; width: 100%; }
  .frame > nav { position: fixed; inset: 3.1rem 0 0 0; width: auto; max-width: 18rem; height: auto;
    max-height: none; margin: 0; padding: 0 1rem 2rem; border: 0; border-right: 1px solid var(--line);
    background: var(--surface); color: inherit; font-size: 1rem; }
  .frame > nav::backdrop { background: #0006; } .frame > nav a { padding: 0.35rem 0.5rem; }
  h1, h2, h3, h4 { scroll-margin-top: 7rem; overflow-wrap: anywhere; } }
`;

/** The policy below holds the hash of exactly what is between these tags. */
export const DOCS_STYLE = new Markup(`<style>${STYLE}</style>`);

const hash = createHash('sha256').update(STYLE).digest('base64');

/** Exactly this style and this script, and pictures and a search of this server; no frame or other host ever. */
export const DOCS_POLICY =
  `default-src 'none'; style-src 'sha256-${hash}'; script-src '${DOCS_SCRIPT_HASH}'; ` +
  "connect-src 'self'; img-src 'self'; " +
  "base-uri 'self'; form-action 'self'; frame-ancestors 'none'";
