type Props = { label: string; value: string; onChange(text: string): void };

/** Narrows a list while one types. What can be looked for is its name, and stands in it while it is empty. */
export const SearchField = ({ label, value, onChange }: Props) => (
  <input type="search" aria-label={label} placeholder={label} value={value} onChange={({ target }) => onChange(target.value)} />
);
