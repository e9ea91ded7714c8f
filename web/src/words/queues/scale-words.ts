import { limitedWords } from '../../../../src/core/views/limited-words.ts';
import type { ScaleView } from '../../../../src/core/views/scale.ts';

/** How many slots the load needs and why, beside those that are there. */
export function scaleWords(scale: ScaleView): string {
  const { wantedSlots, slots, allTenants, waiting, running, definitions, limited } = scale;
  const whose = allTenants ? 'The load' : 'The load of your tenant';
  const load = `${running} running, ${waiting} queued`;
  const homeless = definitions.filter((one) => one.slots === 0 && one.waiting > 0);
  const keys = homeless.map(({ key }) => key).join(', ');
  const without = keys === '' ? '' : ` No active worker has ${keys}, for which jobs are queued.`;
  const held = limited.map((one) => ` ${limitedWords(one)}`).join('');
  const needs = `needs ${count(wantedSlots)}; active workers have ${slots}.`;
  return `${whose} (${load}) ${needs}${without}${held}`;
}

function count(slots: number): string {
  return slots === 1 ? '1 slot' : `${slots} slots`;
}
