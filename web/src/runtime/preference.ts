import { useSyncExternalStore } from 'react';

/** A setting stored in this browser. If storage is forbidden, it lasts as long as the page. */
export interface Preference<T extends string> {
  read(): T;
  write(value: T): void;
  subscribe(listener: () => void): () => void;
}

export function preference<T extends string>(
  name: string,
  values: readonly [T, ...T[]],
): Preference<T> {
  const key = `longshore.${name}`;
  const listeners = new Set<() => void>();
  let chosen = stored();

  function stored(): T {
    try {
      const text = localStorage.getItem(key);
      return values.find((value) => value === text) ?? values[0];
    } catch {
      return values[0];
    }
  }
  return {
    read: () => chosen,
    write(value) {
      chosen = value;
      try {
        localStorage.setItem(key, value);
      } catch {
        // It lasts as long as the page.
      }
      for (const listener of listeners) listener();
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

export function usePreference<T extends string>(one: Preference<T>): [T, (value: T) => void] {
  return [useSyncExternalStore(one.subscribe, one.read), one.write];
}
