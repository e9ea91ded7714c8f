import { unknownName } from '../../core/values/nearest.ts';

/** All names of the options of a call: the compiler refuses a list with a name too few. */
export type OptionNames<Options> = Record<keyof Options, true>;

/** A mistyped option would have no effect, and JavaScript does not notice it. */
export function refuseUnknownOptions<Options extends object>(
  call: string,
  options: Options,
  names: OptionNames<Options>,
): void {
  for (const name of Object.keys(options)) {
    if (Object.hasOwn(names, name)) continue;
    throw new TypeError(`${call}: ${unknownName('option', name, Object.keys(names))}`);
  }
}
