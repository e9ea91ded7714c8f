/** Counts over time as small bars; `label` is for screen readers. */
export function Spark({ counts, label }: { counts: readonly number[]; label: string }) {
  const most = Math.max(1, ...counts);
  const width = 100 / Math.max(1, counts.length);
  return (
    <svg className="spark" viewBox="0 0 100 20" preserveAspectRatio="none" role="img">
      <title>{label}</title>
      {counts.map((count, at) => {
        const height = count === 0 ? 1 : 2 + (count / most) * 18;
        return (
          <rect
            key={at}
            className={count === 0 ? 'none' : 'some'}
            x={at * width + width * 0.1}
            width={width * 0.8}
            y={20 - height}
            height={height}
          />
        );
      })}
    </svg>
  );
}
