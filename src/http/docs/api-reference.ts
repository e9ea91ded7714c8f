import { createHash } from 'node:crypto';
import fastify from 'fastify';
import { type KeptPage, keptPage } from '../kept-page.ts';

/** The API reference: a page of Scalar, its script, and the policy that the page needs. */
export interface ApiReference {
  page: KeptPage;
  script: KeptPage;
  policy: string;
}

/** Scalar resolves a relative server against the host alone, so the browser computes the whole URL. */
const SERVER = { text: '"SERVER"', script: "new URL('../', location).href" };

/**
 * Without a key, Scalar sends an empty one, which no server takes. Then the session of the dashboard
 * counts, or nothing on a server without keys.
 */
const BEFORE_SENDING = {
  text: '"BEFORE_SENDING"',
  script: `({ request: { headers } }) => {
    if (/^Bearer\\s*$/.test(headers.get('authorization') ?? '')) headers.delete('authorization');
  }`,
};

const ICON = '<link rel="icon" href="../ui/favicon.svg" type="image/svg+xml">';
// No header element: Scalar has one of its own on a phone.
const HEADER =
  '<nav aria-label="Longshore"><a href="./">Longshore docs</a><a href="../ui/">Dashboard</a></nav>';
const HEADER_STYLE = `:root { --scalar-custom-header-height: 44px; }
body > nav { position: sticky; top: 0; z-index: 9; height: 44px; box-sizing: border-box; padding: 12px;
  display: flex; justify-content: space-between; font: 14px system-ui, sans-serif;
  background: var(--scalar-background-1); border-bottom: 1px solid var(--scalar-border-color); }
body > nav a { color: var(--scalar-color-1); }`;

/** Scalar's own colours have too little contrast, and some of its buttons are too small to hit. */
const READABLE_STYLE = `
.light-mode { --scalar-color-2: #4a4a4a !important; --scalar-color-3: #5c5c5c !important;
  --scalar-sidebar-color-2: #4a4a4a !important; --scalar-sidebar-search-color: #5c5c5c !important;
  --scalar-color-green: #0f5f35 !important; --scalar-color-blue: #0a4f94 !important;
  --scalar-color-red: #a11616 !important; --scalar-color-orange: #7a4600 !important;
  --scalar-color-purple: #4f3aa0 !important; --scalar-color-yellow: #6b5000 !important; }
.dark-mode { --scalar-color-2: #c4c4c4 !important; --scalar-color-3: #b0b0b0 !important;
  --scalar-sidebar-color-2: #c4c4c4 !important; --scalar-sidebar-search-color: #b0b0b0 !important;
  --scalar-color-red: #ff9c9c !important; --scalar-color-orange: #ffb870 !important;
  --scalar-color-blue: #7cc0ff !important; --scalar-color-green: #67d391 !important; }
ul.endpoints { max-height: none !important; overflow: visible !important; }
button.absolute.text-sidebar-c-2 { min-width: 24px; min-height: 24px; }`;

/**
 * What Scalar leaves out: the button that copies an example has no name, and a long example scrolls
 * by mouse only. Scalar draws while one scrolls, so this looks again after each change.
 */
const REPAIR = `<script>{
  let waits = false;
  const repair = () => {
    waits = false;
    for (const button of document.querySelectorAll('button[class*=copy-button]:not([aria-label])')) {
      button.setAttribute('aria-label', 'Copy');
    }
    for (const box of document.querySelectorAll('.scalar-card-content:not([tabindex])')) {
      if (box.scrollHeight <= box.clientHeight && box.scrollWidth <= box.clientWidth) continue;
      box.tabIndex = 0;
      box.setAttribute('role', 'group');
      box.setAttribute('aria-label', 'Example');
    }
  };
  const soon = () => {
    if (!waits) requestAnimationFrame(repair);
    waits = true;
  };
  new MutationObserver(soon).observe(document.body, { childList: true, subtree: true });
  addEventListener('resize', soon);
}</script>`;

/** All URLs are relative to `/docs/api`, so that the page works below the path of a proxy. */
const CONFIGURATION = {
  pageTitle: 'API reference · Longshore',
  cdn: 'api/scalar.js',
  url: '../openapi.json',
  servers: [{ url: 'SERVER' }],
  onRequestBuilt: 'BEFORE_SENDING' as unknown as () => void,
  customCss: HEADER_STYLE + READABLE_STYLE,
  // Nothing from another host, and no button that sends the document to one.
  withDefaultFonts: false,
  telemetry: false,
  hideClientButton: true,
  showDeveloperTools: 'never' as const,
  agent: { disabled: true },
  mcp: { disabled: true },
};

/** Loaded on the first visit: the package takes 200 ms and 40 MB, which most servers never need. */
export async function readApiReference(): Promise<ApiReference> {
  const { default: scalar } = await import('@scalar/fastify-api-reference');
  const app = fastify();
  await app.register(scalar, { routePrefix: '/', configuration: CONFIGURATION });
  const page = (await app.inject('/')).body
    .replace(SERVER.text, SERVER.script)
    .replace(BEFORE_SENDING.text, () => BEFORE_SENDING.script)
    .replace('<html>', '<html lang="en">')
    .replace('</head>', `${ICON}</head>`)
    .replace('<body>', () => `<body>${HEADER}${REPAIR}`);
  const script = (await app.inject('/js/scalar.js')).body;
  await app.close();
  return {
    page: keptPage(page, 'text/html; charset=utf-8'),
    script: keptPage(script, 'text/javascript; charset=utf-8'),
    policy: policyFor(page),
  };
}

/** Scripts: that of this server and the inline one of this page. Scalar sets style attributes. */
function policyFor(page: string): string {
  const inline = /<script(?![^>]* src=)[^>]*>([^]*?)<\/script>/g;
  const hashes = [...page.matchAll(inline)].map(
    ([, text = '']) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`,
  );
  return (
    `default-src 'none'; script-src 'self' ${hashes.join(' ')}; style-src 'unsafe-inline'; ` +
    "img-src 'self' data:; connect-src 'self'; base-uri 'self'; form-action 'none'; frame-ancestors 'none'"
  );
}
