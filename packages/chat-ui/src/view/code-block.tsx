import { Check, Copy, WrapText } from 'lucide-react';
import { memo, useEffect, useState } from 'react';
import { t } from '../language/t.ts';

const copiedMs = 2000;

/** Code as text: with its language, to copy, and to wrap. */
export const CodeBlock = memo(function CodeBlock({ lang, text }: { lang: string; text: string }) {
  const [wraps, setWraps] = useState(false);
  return (
    <figure className="code">
      <figcaption>
        <span className="lang">{lang === '' ? t('text') : lang}</span>
        <button type="button" className="quiet" aria-pressed={wraps} onClick={() => setWraps(!wraps)}>
          <WrapText aria-hidden size={14} /> {t('Wrap')}
        </button>
        <CopyButton text={text} />
      </figcaption>
      <pre className={wraps ? 'wraps' : undefined} tabIndex={0} aria-label={t('Code')}>
        <code>{text}</code>
      </pre>
    </figure>
  );
});

export function CopyButton({ text, label = t('Copy') }: { text: string; label?: string }) {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), copiedMs);
    return () => clearTimeout(timer);
  }, [copied]);
  const copy = () => navigator.clipboard.writeText(text).then(() => setCopied(true));
  return (
    <button type="button" className="quiet" onClick={() => void copy().catch(() => setCopied(false))}>
      {copied ? <Check aria-hidden size={14} /> : <Copy aria-hidden size={14} />} {copied ? t('Copied') : label}
    </button>
  );
}
