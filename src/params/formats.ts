/**
 * Formats of JSON Schema that are checked when a job is enqueued. Each rule holds for every value
 * that a validator in the job may accept, so that no valid value is refused here: the code of the
 * job checks exactly. All rules take linear time. Other formats are left to the job.
 */
const RULES: Record<string, { holds: (text: string) => boolean; words: string }> = {
  email: { holds: isEmail, words: 'must be an e-mail address' },
  uri: { holds: (text) => URL.canParse(text), words: 'must be a URL' },
  uuid: {
    holds: shaped(/^(urn:uuid:)?[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i),
    words: 'must be a UUID',
  },
  date: { holds: shaped(/^\d{4}-\d\d-\d\d$/), words: 'must be a date like 2030-01-31' },
  'date-time': {
    holds: shaped(/^\d{4}-\d\d-\d\d[t ]\d\d:\d\d/i),
    words: 'must be a date and time like 2030-01-31T08:00:00Z',
  },
  ipv4: { holds: shaped(/^\d{1,3}(\.\d{1,3}){3}$/), words: 'must be an IPv4 address' },
};

/** For Ajv. */
export const FORMATS = Object.fromEntries(
  Object.entries(RULES).map(([name, { holds }]) => [name, holds]),
);

export function formatWords(format: string): string {
  return RULES[format]?.words ?? `must match the format ${format}`;
}

function shaped(shape: RegExp): (text: string) => boolean {
  return (text) => shape.test(text);
}

function isEmail(text: string): boolean {
  const at = text.lastIndexOf('@');
  return at > 0 && /^[^\s@]+$/.test(text.slice(at + 1)) && !/[\r\n]/.test(text);
}
