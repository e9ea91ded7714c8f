import { createHash } from 'node:crypto';
import { Markup } from './markup.ts';

/**
 * What the pages do besides being read: results while one types, buttons that copy code, and a menu
 * that closes. Without it the pages work, too: the search is a form.
 */
const SCRIPT = `
const input = document.querySelector('input[type=search]');
const panel = document.getElementById('found');
const menu = document.getElementById('menu');

for (const block of document.querySelectorAll('.code')) {
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'copy';
  button.textContent = 'Copy';
  button.addEventListener('click', async () => {
    await copy(block.querySelector('code'));
    button.textContent = 'Copied';
    setTimeout(() => { button.textContent = 'Copy'; }, 1500);
  });
  block.append(button);
}

/* Browsers offer the clipboard on https and on this machine only. */
async function copy(code) {
  if (navigator.clipboard) return await navigator.clipboard.writeText(code.textContent);
  getSelection().selectAllChildren(code);
  document.execCommand('copy');
  getSelection().removeAllRanges();
}

menu.addEventListener('click', (event) => {
  if (event.target.closest('a') && menu.matches(':popover-open')) menu.hidePopover();
});

let timer;
let latest = 0;
input.addEventListener('input', () => {
  clearTimeout(timer);
  timer = setTimeout(show, 120);
});
input.addEventListener('focus', () => { if (panel.childElementCount > 0 && input.value) panel.hidden = false; });

async function show() {
  const number = (latest += 1);
  const question = input.value.trim();
  if (question === '') return hide();
  const answer = await fetch('search?q=' + encodeURIComponent(question)).catch(() => null);
  if (!answer || !answer.ok || number !== latest) return;
  const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
  if (number !== latest) return;
  panel.replaceChildren(...page.getElementById('results').children);
  panel.hidden = false;
}

function hide() {
  latest += 1;
  panel.hidden = true;
}

addEventListener('keydown', (event) => {
  const typing = event.target.closest('input, textarea, select');
  if (event.key === '/' && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
    event.preventDefault();
    input.select();
  } else if (event.key === 'Escape' && !panel.hidden) {
    hide();
    input.focus();
  } else if ((event.key === 'ArrowDown' || event.key === 'ArrowUp') && !panel.hidden) {
    const links = [...panel.querySelectorAll('a')];
    const at = links.indexOf(document.activeElement) + (event.key === 'ArrowDown' ? 1 : -1);
    if (event.target !== input && !panel.contains(event.target)) return;
    event.preventDefault();
    (at < 0 ? input : links[Math.min(at, links.length - 1)] ?? input).focus();
  }
});
addEventListener('click', (event) => {
  if (panel.contains(event.target) ? event.target.closest('a') : event.target !== input) hide();
});
`;

/** The policy of the pages holds the hash of exactly what is between these tags. */
export const DOCS_SCRIPT = new Markup(`<script type="module">${SCRIPT}</script>`);

export const DOCS_SCRIPT_HASH = `sha256-${createHash('sha256').update(SCRIPT).digest('base64')}`;
