import { Link, type LinkProps } from '@tanstack/react-router';
import type { ReactNode } from 'react';

/** Links between the pages of a list. `search` is that of the current page. */
export function Pages({
  search,
  nextCursor,
  children,
  ...link
}: {
  to: LinkProps['to'];
  params?: object;
  search: object & { cursor?: string | undefined };
  nextCursor: string | null;
  children?: ReactNode;
}) {
  const { cursor, ...first } = search;
  const pageLink = (title: string, target: object) => (
    <Link {...({ ...link, search: target } as LinkProps)} className="button">
      {title}
    </Link>
  );
  if (!children && cursor === undefined && nextCursor === null) return null;
  return (
    <nav className="pages" aria-label="Pages">
      {children}
      {cursor !== undefined && pageLink('First page', first)}
      {nextCursor !== null && pageLink('Next page', { ...search, cursor: nextCursor })}
    </nav>
  );
}
