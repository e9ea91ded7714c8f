import { DOCS_STYLE } from './style.ts';
import { type Markup, markup } from './markup.ts';

export interface Frame {
  title: string;
  menu: Markup;
  body: Markup;
  /** Where the pages are, seen from this one: all links are relative to it. */
  base: string;
  question?: string;
}

/** The one frame of all pages: a menu that is always there, a search, and the page. */
export function layout({ title, menu, body, base, question = '' }: Frame): string {
  return markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<base href="${base}">
<title>${title} · Longshore</title>
${DOCS_STYLE}
</head>
<body>
<header><a class="brand" href="../docs">Longshore docs</a>
<form action="search" role="search"><input type="search" name="q" value="${question}"
aria-label="Search headings" placeholder="Search headings"></form>
<a href="../ui/">Dashboard</a></header>
<div class="frame"><nav aria-label="Pages">${menu}</nav>
<main>${body}</main></div>
</body>
</html>
`.text;
}
