import { type ReactNode, useEffect, useRef } from 'react';

/** A button that opens a small menu; a click elsewhere or Escape closes it. */
export function Drop({ label, children }: { label: ReactNode; children: ReactNode }) {
  const ref = useRef<HTMLDetailsElement>(null);
  useEffect(() => {
    const close = (event: Event) => {
      const inside = event.target instanceof Node && ref.current?.contains(event.target);
      if (ref.current?.open && !inside) ref.current.open = false;
    };
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== 'Escape' || !ref.current?.open) return;
      ref.current.open = false;
      ref.current.querySelector('summary')?.focus();
    };
    document.addEventListener('click', close);
    document.addEventListener('keydown', onKey);
    return () => {
      document.removeEventListener('click', close);
      document.removeEventListener('keydown', onKey);
    };
  }, []);
  return (
    <details className="drop" ref={ref}>
      <summary className="button">{label}</summary>
      <div className="drop-body">{children}</div>
    </details>
  );
}
