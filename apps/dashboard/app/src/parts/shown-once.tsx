import { CopyButton } from './copy-button.tsx';

type Props = { label: string; text: string; copy: string };

/** A value that is shown only once, such as a new key, to be copied. `copy`: verb and thing. */
export const ShownOnce = ({ label, text, copy }: Props) => (
  <div className="stack">
    <h3>{label}</h3>
    <pre className="diff shown-once" tabIndex={0} role="group" aria-label={label}>
      {text}
    </pre>
    <p className="row-buttons">
      <CopyButton text={text}>{copy}</CopyButton>
    </p>
  </div>
);
