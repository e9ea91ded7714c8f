import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import { unknownName } from '../core/values/nearest.ts';
import { escapePointer } from '../core/job/params.ts';
import { isTimeout, withTimeLimit } from './time-limit.ts';

/** One thing that is wrong with params, and where in them. */
export interface ParamsViolation {
  pointer: string;
  detail: string;
}

/** What the params of a definition can be judged by, from the JSON Schema that its worker published. */
export type ParamsJudge = (paramsJson: string) => ParamsViolation[];

const SCHEMA_MAX_CHARACTERS = 65_536;
const VIOLATIONS_MAX = 100;
const LIMIT_MS = 250;

/** Beyond this product of lengths, and with these words, nobody can say how long judging takes. */
const EASY_PRODUCT = 10_000_000;
const EASY_SCHEMA = 4_096;
const ENDLESS = /"(\$ref|\$dynamicRef|uniqueItems)"/;

/** A JSON Schema forgets the flags of a pattern, so what does not match it may be right all the same. */
const matchAll = Object.assign(() => ({ test: () => true }), { code: 'matchAll' });

/**
 * A schema comes from whoever runs a worker, params from whoever may start jobs, and this runs where
 * all requests are served; so neither may hold it up. Patterns, in which a few characters can take
 * years, are left to the check before running, in the job's own process. Everything else has a time
 * limit where it could take long, and throws when it does: that may be the machine's fault, so it is
 * worth another try. A schema that is too large, that cannot be understood, or that patterns are
 * essential to (`patternProperties`) has no judge: null.
 */
export function compileSchema(schema: unknown): ParamsJudge | null {
  const text = JSON.stringify(schema) ?? '';
  if (typeof schema !== 'object' || schema === null) return null;
  if (text.length > SCHEMA_MAX_CHARACTERS || text.includes('"patternProperties"')) return null;
  const endless = ENDLESS.test(text);
  const validate = compiled(schema, endless || text.length > EASY_SCHEMA);
  if (!validate) return null;
  return (paramsJson) => {
    const params: unknown = JSON.parse(paramsJson);
    const judge = () => (validate(params) ? [] : (validate.errors ?? []));
    const slow = endless || text.length * paramsJson.length > EASY_PRODUCT;
    const errors = slow ? withTimeLimit(LIMIT_MS, judge) : judge();
    return errors.slice(0, VIOLATIONS_MAX).map(violationOf);
  };
}

function compiled(schema: object, slow: boolean): ValidateFunction | null {
  const compile = () => {
    const ajv = new Ajv2020({
      strict: false,
      allErrors: true,
      verbose: true,
      validateFormats: false,
      validateSchema: false,
      meta: false,
      logger: false,
      code: { regExp: matchAll },
    });
    return ajv.compile(schema);
  };
  try {
    return slow ? withTimeLimit(LIMIT_MS, compile) : compile();
  } catch (error) {
    if (isTimeout(error)) throw error;
    return null;
  }
}

/** In the words of the API: the pointer names the field that is missing or too much. */
function violationOf(error: ErrorObject): ParamsViolation {
  const { instancePath, keyword, params, parentSchema, message = 'does not fit' } = error;
  const inside = (name: unknown) => `${instancePath}/${escapePointer(String(name))}`;
  if (keyword === 'required') {
    return { pointer: inside(params['missingProperty']), detail: 'is required' };
  }
  if (keyword === 'additionalProperties') {
    const name = String(params['additionalProperty']);
    const known = Object.keys((parentSchema?.['properties'] as object | undefined) ?? {});
    return { pointer: inside(name), detail: unknownName('field', name, known) };
  }
  if (keyword === 'enum') {
    const allowed = JSON.stringify(params['allowedValues']).slice(0, 200);
    return { pointer: instancePath, detail: `must be one of ${allowed}` };
  }
  return { pointer: instancePath, detail: message };
}
