import { createHash } from 'node:crypto';
import { Markup } from './markup.ts';

/** The colours of the dashboard (`web/src/styles/tokens.css`; a test compares them). No other host, no script. */
const STYLE = `
:root { color-scheme: light dark;
  --ground: light-dark(#f4f6f8, #0d1218); --surface: light-dark(#ffffff, #141b23);
  --sunken: light-dark(#eef1f5, #0f151c); --ink: light-dark(#15202b, #e4eaf1);
  --soft: light-dark(#51606f, #9cabbb); --line: light-dark(#dce2e9, #26313d);
  --accent: light-dark(#0a5ca8, #6db5f8); --accent-wash: light-dark(#e4effa, #14293d);
  --focus: light-dark(#0a6fd1, #7cc0ff); }
* { box-sizing: border-box; }
body { margin: 0; line-height: 1.55; font-family: system-ui, sans-serif;
  background: var(--ground); color: var(--ink); }
a { color: var(--accent); } :focus-visible { outline: 2px solid var(--focus); outline-offset: 2px; }
header { display: flex; gap: 1rem; align-items: center; padding: 0.6rem 1.25rem;
  background: var(--surface); border-bottom: 1px solid var(--line); }
header form { margin-left: auto; } .brand { font-weight: 700; text-decoration: none; }
input { font: inherit; color: inherit; background: var(--ground); border: 1px solid var(--line);
  border-radius: 5px; padding: 0.25rem 0.6rem; width: 16rem; max-width: 40vw; }
.frame { display: grid; grid-template-columns: 15rem minmax(0, 1fr); max-width: 84rem; margin: 0 auto; }
.frame > nav { padding: 1rem 0.5rem 3rem 1.25rem; font-size: 0.92rem; position: sticky; top: 0;
  align-self: start; max-height: 100vh; overflow-y: auto; }
.frame > nav p { margin: 1rem 0 0.2rem; font-weight: 600; color: var(--soft); }
.frame > nav ul { list-style: none; margin: 0; padding: 0; } .frame > nav ul ul { padding-left: 0.8rem; }
.frame > nav a { display: block; padding: 0.12rem 0.5rem; border-radius: 5px; text-decoration: none;
  color: inherit; }
.frame > nav a[aria-current] { background: var(--accent-wash); color: var(--accent); }
main { padding: 1rem 2rem 6rem; background: var(--surface); border-left: 1px solid var(--line);
  min-height: 90vh; min-width: 0; }
h1 { margin: 0.5rem 0; } h2 { margin: 2.5rem 0 0.5rem; border-bottom: 1px solid var(--line); }
h3 { margin: 2rem 0 0.25rem; font-size: 1.1rem; } h4 { margin: 1.25rem 0 0.25rem; }
.anchor { color: inherit; text-decoration: none; } .anchor:hover { text-decoration: underline; }
code, pre { font-family: ui-monospace, monospace; font-size: 0.9em; }
pre { overflow-x: auto; padding: 0.75rem; border-radius: 8px; background: var(--sunken); }
table { border-collapse: collapse; width: 100%; display: block; overflow-x: auto; }
th, td { text-align: left; vertical-align: top; padding: 0.3rem 0.75rem 0.3rem 0; }
td { border-top: 1px solid var(--line); } th { font-weight: 600; }
img { max-width: 100%; border: 1px solid var(--line); border-radius: 8px; }
.about { color: var(--soft); font-size: 0.9em; }
@media (max-width: 50rem) { .frame { display: block; } .frame > nav { position: static; max-height: none; }
  main { border-left: 0; padding: 1rem 1rem 4rem; } }
`;

/** The policy below holds the hash of exactly what is between these tags. */
export const DOCS_STYLE = new Markup(`<style>${STYLE}</style>`);

const hash = createHash('sha256').update(STYLE).digest('base64');

/** Exactly this style, and pictures and a search of this server; no script, frame or other host ever. */
export const DOCS_POLICY =
  `default-src 'none'; style-src 'sha256-${hash}'; img-src 'self'; ` +
  "base-uri 'self'; form-action 'self'; frame-ancestors 'none'";
