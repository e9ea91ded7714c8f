import { type ReactNode, useId } from 'react';

/** A section of a screen with a heading. */
export function Panel({
  title,
  aside,
  children,
  flush = false,
}: {
  title: string;
  aside?: ReactNode;
  children: ReactNode;
  /** Without padding, for tables and logs. */
  flush?: boolean;
}) {
  const id = useId();
  return (
    <section className={`panel${flush ? ' flush' : ''}`} aria-labelledby={id}>
      <header>
        <h2 id={id}>{title}</h2>
        {aside !== undefined && <div className="aside">{aside}</div>}
      </header>
      <div className="body">{children}</div>
    </section>
  );
}

export type Fact = readonly [name: string, value: ReactNode];

/** A list of labelled values; empty values are left out. */
export function Facts({ facts }: { facts: readonly Fact[] }) {
  const known = facts.filter(([, value]) => value !== null && value !== undefined && value !== '');
  return (
    <dl className="facts">
      {known.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
