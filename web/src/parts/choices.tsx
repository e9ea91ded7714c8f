/** A group of checkboxes, each with a description. */
export function Choices<Name extends string>({
  legend,
  names,
  words,
  chosen,
  onChange,
}: {
  legend: string;
  names: readonly Name[];
  words?: Readonly<Record<Name, string>>;
  chosen: readonly Name[];
  onChange: (chosen: Name[]) => void;
}) {
  return (
    <fieldset className="modes">
      <legend>{legend}</legend>
      {names.map((name) => (
        <label key={name} className="check">
          <input
            type="checkbox"
            checked={chosen.includes(name)}
            onChange={({ target }) =>
              onChange(
                names.filter((one) => (one === name ? target.checked : chosen.includes(one))),
              )
            }
          />
          <span>
            <strong>{name}</strong> {words && <span className="soft">{words[name]}</span>}
          </span>
        </label>
      ))}
    </fieldset>
  );
}
