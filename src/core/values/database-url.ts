/**
 * The URL of a database, as PostgreSQL's clients read it. Its host may be missing, because a socket is
 * named in the query: `postgres://user:password@/jobs?host=/run/pg`. `URL` refuses that form.
 */
const HOSTLESS = '@/';
const STAND_IN = 'no-host.invalid';

/** Null for a text that is no URL. */
export function parseDatabaseUrl(text: string): URL | null {
  if (URL.canParse(text)) return new URL(text);
  const completed = text.replace(HOSTLESS, `@${STAND_IN}/`);
  return URL.canParse(completed) ? new URL(completed) : null;
}

/** The text of a URL from `parseDatabaseUrl`. */
export function databaseUrlText({ href }: URL): string {
  return href.replace(`@${STAND_IN}/`, HOSTLESS);
}

/** The same server and user, another database. Errors do not contain the URL: it has a password. */
export function withDatabase(text: string, name: string): string {
  const url = parseDatabaseUrl(text);
  if (url === null) {
    throw new TypeError(
      'the URL of the database is not valid: write it like postgres://user:password@host:5432/name, ' +
        'with special characters percent-encoded',
    );
  }
  url.pathname = `/${name}`;
  return databaseUrlText(url);
}
