import { createHash } from 'node:crypto';
import { Markup } from './markup.ts';

/** The page brings its own style and nothing else, so it reads the same without a network. */
const STYLE = `
:root { color-scheme: light dark; --line: #8884; --soft: #8881; --accent: #0a66c2; }
@media (prefers-color-scheme: dark) { :root { --accent: #6cb6ff; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 62rem; padding: 1.5rem 1rem 6rem; line-height: 1.5;
  font-family: system-ui, sans-serif; background: Canvas; color: CanvasText; }
h1 { margin: 0; } h2 { margin: 3rem 0 0.5rem; border-bottom: 1px solid var(--line); }
h3 { margin: 2.5rem 0 0.25rem; font-size: 1.1rem; } h4 { margin: 1.25rem 0 0.25rem; }
a { color: var(--accent); } code, pre { font-family: ui-monospace, monospace; font-size: 0.9em; }
pre { overflow-x: auto; padding: 0.75rem; border-radius: 6px; background: var(--soft); }
nav ul { list-style: none; padding: 0; columns: 2; } nav li { break-inside: avoid; }
table { border-collapse: collapse; width: 100%; display: block; overflow-x: auto; }
th, td { text-align: left; vertical-align: top; padding: 0.3rem 0.75rem 0.3rem 0; }
td { border-top: 1px solid var(--line); } th { font-weight: 600; }
.method { display: inline-block; min-width: 3.6rem; font-weight: 700; color: var(--accent); }
.must { font-size: 0.8em; font-weight: 600; }
@media (max-width: 40rem) { nav ul { columns: 1; } }
`;

/** The policy below holds the hash of exactly what is between these tags. */
export const DOCS_STYLE = new Markup(`<style>${STYLE}</style>`);

const hash = createHash('sha256').update(STYLE).digest('base64');

/** Exactly this style may apply; no script, image, frame, form or other host ever. */
export const DOCS_POLICY =
  `default-src 'none'; style-src 'sha256-${hash}'; ` +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
