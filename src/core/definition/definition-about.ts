/** Documentation of a definition: its owner, its purpose, and what to do when it fails. */
export interface DefinitionAbout {
  owner: string | null;
  description: string | null;
  /** Always http or https, so a page may link to it. */
  runbookUrl: string | null;
}

export type AboutInput = { [Name in keyof DefinitionAbout]?: string | undefined };

const TEXT_MAX = 1_000;
const URL_MAX = 2_000;

export function definitionAbout(
  { owner, description, runbookUrl }: AboutInput,
  refused: (sentence: string) => Error,
): DefinitionAbout {
  if (owner !== undefined && !isText(owner)) throw refused('owner must be a name');
  if (description !== undefined && !isText(description)) {
    throw refused(`description must be a string of 1 to ${TEXT_MAX} characters`);
  }
  if (runbookUrl !== undefined && !isWebAddress(runbookUrl)) {
    throw refused('runbookUrl must be a URL such as https://wiki.example.com/runbooks/orders');
  }
  return {
    owner: owner ?? null,
    description: description ?? null,
    runbookUrl: runbookUrl ?? null,
  };
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && value !== '' && value.length <= TEXT_MAX;
}

/** A URL that a browser may open: http or https, without a password. */
export function isWebAddress(text: unknown): text is string {
  if (typeof text !== 'string' || text.length > URL_MAX || !URL.canParse(text)) return false;
  const { protocol, username, password } = new URL(text);
  return /^https?:$/.test(protocol) && username === '' && password === '';
}
