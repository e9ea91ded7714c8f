import { SEALED } from '../../core/access/sealed.ts';

/** The params of a job `j` as text, for a search; empty when they are encrypted. */
const PARAMS = `
  case when position('"${SEALED}":"' in j.params::text) > 0 then '' else j.params::text end`;

/** The digits of an id. */
const digits = (id: string) => `encode(uuid_send(${id}), 'hex')`;

/**
 * Whether a job `j` of the queue `l` contains every word of a parameter. Words have no line breaks,
 * so none is found across two parts.
 */
export function containsAll(words: string, parts: readonly string[]): string {
  const own = ['l.key', 'j.id', digits('j.id'), `array_to_string(j.tags, E'\\n')`, PARAMS];
  return `(cardinality(${words}::text[]) = 0 or (
    select bool_and(position(lower(w.word) in h.hay) > 0)
    from (select lower(concat_ws(E'\\n', ${[...own, ...parts].join(', ')})) as hay offset 0) h
    cross join unnest(${words}::text[]) as w(word)))`;
}

/** An error of a job has 5 causes, of a job in another language 6; a lack of memory adds one. */
const CAUSES_MAX = 7;

/** The messages of the causes of an error, the innermost first. */
export function causeMessages(error: string): string[] {
  return Array.from({ length: CAUSES_MAX }, (_, depth) => {
    return `${error} #>> '{${'cause,'.repeat(CAUSES_MAX - depth)}message}'`;
  });
}

/**
 * What pages show of an error: its code with the signs around it, and the messages of the whole
 * chain. It goes no deeper than there are causes: each look into JSON reads all of it.
 */
export function errorText(code: string, error: string): string {
  const causes = causeMessages(error).reduce(
    (deeper, one) => `case when ${one} is not null then concat_ws(E'\\n', ${one}, ${deeper}) end`,
    'null',
  );
  return `concat_ws(E'\\n', ${code} || ': (' || ${code} || ') ← …', ${error} ->> 'message', ${causes})`;
}

/** Whether an id begins or ends with the digits of a parameter, if it has any. */
export function hasDigits(id: string, part: string): string {
  return `(${part}::text is null or starts_with(${digits(id)}, ${part})
    or right(${digits(id)}, length(${part})) = ${part})`;
}
