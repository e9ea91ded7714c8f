import { DefinitionError } from '../definition/definition.ts';

/** The first shape: that of params without a number. */
export const FIRST_SHAPE = 1;
export const PARAMS_SHAPE_MAX = 1_000;

/** Makes params of one shape from params of the shape before. */
export type UpgradeFunction = (old: never) => unknown;

/** The option `upgrade` of `defineJob`: `{ 2: (old) => new, 3: (old) => new }`. */
export type UpgradeInput = Readonly<Record<number, UpgradeFunction>>;

/** The functions in order: the first one makes shape 2. */
export function upgradesOf(key: string, input: UpgradeInput | undefined): UpgradeFunction[] {
  if (input === undefined) return [];
  const refused = (sentence: string) => new DefinitionError(`${key}: ${sentence}`);
  if (typeof input !== 'object' || input === null || Array.isArray(input)) {
    throw refused('upgrade must be an object of functions: { 2: (old) => new }');
  }
  const entries = Object.entries(input) as [string, unknown][];
  if (entries.length >= PARAMS_SHAPE_MAX) {
    throw refused(`upgrade: at most ${PARAMS_SHAPE_MAX} shapes of params are allowed`);
  }
  // Integer keys are listed in ascending order, others after them.
  return entries.map(([shape, upgrade], index) => {
    const wanted = index + FIRST_SHAPE + 1;
    if (shape !== String(wanted)) {
      throw refused(
        `upgrade: its keys must be 2, 3, … without gaps: found ${JSON.stringify(shape)} in place of ${wanted}`,
      );
    }
    if (typeof upgrade !== 'function') throw refused(`upgrade: ${shape} must be a function`);
    return upgrade as UpgradeFunction;
  });
}

/** The shape that the code of a definition works with. */
export function shapeAfter(upgrades: readonly UpgradeFunction[] | undefined): number {
  return FIRST_SHAPE + (upgrades?.length ?? 0);
}

/** An upgrade function threw. */
export class UpgradeFailed extends Error {
  override name = 'UpgradeFailed';
  readonly code = 'PARAMS_UPGRADE_FAILED';

  constructor(from: number, cause: unknown) {
    const why = cause instanceof Error ? cause.message : String(cause);
    super(`the upgrade of the params from shape ${from} to ${from + 1} failed: ${why}`, { cause });
  }
}

/** Brings params of an older shape to the current one. Throws `UpgradeFailed`. */
export async function upgradedParams(
  upgrades: readonly UpgradeFunction[],
  shape: number,
  params: unknown,
): Promise<unknown> {
  let current = params;
  for (const [index, upgrade] of upgrades.entries()) {
    const from = index + FIRST_SHAPE;
    if (from < shape) continue;
    try {
      current = await upgrade(current as never);
    } catch (error) {
      throw new UpgradeFailed(from, error);
    }
  }
  return current;
}

/**
 * How long a job with a newer shape waits for a worker with newer code: longer with each claim, so
 * that a job that no worker can run costs little.
 */
export function newerShapeDelayMs(claim: number): number {
  return Math.min(600_000, 1_000 * 2 ** Math.min(claim - 1, 20));
}
