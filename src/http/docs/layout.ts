import { type Markup, markup } from './markup.ts';
import { DOCS_SCRIPT } from './script.ts';
import { DOCS_STYLE } from './style.ts';

export interface Frame {
  title: string;
  menu: Markup;
  body: Markup;
  /** Where the pages are, seen from this one: all links are relative to it. */
  base: string;
  question?: string;
}

/**
 * The one frame of all pages: search, menu and page. The menu is beside the page, or behind a button
 * on a narrow screen, without a script.
 */
export function layout({ title, menu, body, base, question = '' }: Frame): string {
  return markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<base href="${base}">
<title>${title} · Longshore</title>
<link rel="icon" href="../ui/favicon.svg" type="image/svg+xml">
${DOCS_STYLE}
</head>
<body>
<header><button type="button" class="contents-button" popovertarget="menu">Contents</button>
<a class="brand" href="../docs">Longshore docs</a>
<form action="search" role="search"><input type="search" name="q" value="${question}" autocomplete="off"
aria-label="Search the docs" aria-keyshortcuts="/" placeholder="Search the docs  ( / )">
<div id="found" role="region" aria-label="Search results" aria-live="polite" hidden></div></form>
<a href="../ui/">Dashboard</a></header>
<div class="frame"><nav id="menu" popover aria-label="Pages">${menu}</nav>
<main>${body}</main></div>
${DOCS_SCRIPT}
</body>
</html>
`.text;
}
