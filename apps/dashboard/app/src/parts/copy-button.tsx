import { t } from '@svc/chat-ui/language/t.ts';
import { Copy } from 'lucide-react';
import { toast } from './toast.tsx';

type Props = { text: string; children: string };

/** Copies a text to the clipboard, and says whether that worked. */
export function CopyButton({ text, children }: Props) {
  const copy = () =>
    navigator.clipboard.writeText(text).then(
      () => toast(t('Copied.')),
      () => toast(t('The browser does not allow copying. Select it and copy it by hand.'), 'fault'),
    );
  return (
    <button type="button" className="plain-button" onClick={() => void copy()}>
      <Copy aria-hidden size={16} /> {children}
    </button>
  );
}
