import { SEALED } from '../../core/access/sealed.ts';

/** The params of a job `j` as text, for a search; nothing when they are encrypted, for that is noise. */
export const SEARCHABLE = `
  case when position('"${SEALED}":"' in j.params::text) > 0 then '' else j.params::text end`;
