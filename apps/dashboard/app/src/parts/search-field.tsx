type Props = { label: string; value: string; onChange(text: string): void };

/** Narrows a list while a person types. What can be searched for is its label and its placeholder. */
export const SearchField = ({ label, value, onChange }: Props) => (
  <input type="search" aria-label={label} placeholder={label} value={value} onChange={({ target }) => onChange(target.value)} />
);
