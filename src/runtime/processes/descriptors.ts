import { readdirSync, readFileSync } from 'node:fs';

const CLOSE_ON_EXEC = 0o2000000;
const STANDARD_MAX = 2;

/**
 * The inheritable file descriptors of this process. Node opens none, but the shell, supervisor or
 * CI system that started Node may have left some. (Node closes the low ones, up to the first gap
 * above 15.)
 */
export function inheritableDescriptors(): number[] {
  try {
    return readdirSync('/proc/self/fdinfo')
      .map(Number)
      .filter((descriptor) => descriptor > STANDARD_MAX && isInheritable(descriptor));
  } catch {
    return [];
  }
}

function isInheritable(descriptor: number): boolean {
  try {
    const info = readFileSync(`/proc/self/fdinfo/${descriptor}`, 'latin1');
    const flags = Number.parseInt(/^flags:\s*(\d+)/m.exec(info)?.[1] ?? '', 8);
    return (flags & CLOSE_ON_EXEC) === 0;
  } catch {
    return false;
  }
}
