import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import { unknownName } from '../core/values/nearest.ts';
import { escapePointer } from '../core/job/params.ts';
import { FORMATS, formatWords } from './formats.ts';
import { isTimeout, withTimeLimit } from './time-limit.ts';

/** One violation of the schema, and where it is. */
export interface ParamsViolation {
  pointer: string;
  detail: string;
}

/** Validates the params of a definition against the JSON Schema that its worker published. */
export type ParamsJudge = (paramsJson: string) => ParamsViolation[];

const SCHEMA_MAX_CHARACTERS = 65_536;
const VIOLATIONS_MAX = 100;
const LIMIT_MS = 250;

/** Beyond this product of lengths, and with these keywords, the validation time is not bounded. */
const EASY_PRODUCT = 10_000_000;
const EASY_SCHEMA = 4_096;
const ENDLESS = /"(\$ref|\$dynamicRef|uniqueItems)"/;

/** A JSON Schema loses the flags of a pattern, so a mismatch may be wrong. */
const matchAll = Object.assign(() => ({ test: () => true }), { code: 'matchAll' });

/**
 * Compiles a published schema. Schemas come from workers and params from callers, and this runs in
 * the process that serves all requests, so neither may block it. Patterns, which can take
 * exponential time, are left to the validation in the runner. Everything else that may be slow has
 * a time limit and throws, so the caller can retry later. Null for a schema that is too large,
 * invalid, or depends on patterns (`patternProperties`).
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
      formats: FORMATS,
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

/** The violation as the API shows it: the pointer names the missing or unknown field. */
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
  if (keyword === 'format') {
    return { pointer: instancePath, detail: formatWords(String(params['format'])) };
  }
  return { pointer: instancePath, detail: message };
}
