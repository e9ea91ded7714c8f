/** Used slots as boxes, or as a bar above `BOXES_MAX`. */
const BOXES_MAX = 32;

export function Slots({ taken, slots }: { taken: number; slots: number }) {
  return (
    <span className="slots">
      <svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
        {slots <= BOXES_MAX ? (
          Array.from({ length: slots }, (_, index) => (
            <rect
              key={index}
              className={index < taken ? 'taken' : 'free'}
              x={(index * 100) / slots + 0.6}
              width={100 / slots - 1.2}
              height="10"
              rx="1"
            />
          ))
        ) : (
          <>
            <rect className="free" width="100" height="10" />
            <rect className="taken" width={(taken / slots) * 100} height="10" />
          </>
        )}
      </svg>
      <span className="nowrap">
        {taken} of {slots}
      </span>
    </span>
  );
}
