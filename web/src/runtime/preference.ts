import { createCell } from './cell.ts';

/** A setting stored in this browser. If storage is forbidden, it lasts as long as the page. */
export type Preference<T extends string> = ReturnType<typeof createCell<T>>;

export function preference<T extends string>(
  name: string,
  values: readonly [T, ...T[]],
): Preference<T> {
  const key = `longshore.${name}`;
  const cell = createCell(stored());

  function stored(): T {
    try {
      const text = localStorage.getItem(key);
      return values.find((value) => value === text) ?? values[0];
    } catch {
      return values[0];
    }
  }
  return {
    ...cell,
    set(value) {
      try {
        localStorage.setItem(key, value);
      } catch {
        // It lasts as long as the page.
      }
      cell.set(value);
    },
  };
}

export function usePreference<T extends string>(one: Preference<T>): [T, (value: T) => void] {
  return [one.use(), one.set];
}
