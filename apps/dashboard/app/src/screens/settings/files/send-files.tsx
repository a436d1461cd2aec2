import { t } from '@svc/chat-ui/language/t.ts';
import { useQueryClient } from '@tanstack/react-query';
import { Upload } from 'lucide-react';
import { useRef, useState } from 'react';
import { bytes } from '../../../parts/format.ts';
import { refresh } from '../../../parts/query.ts';
import { toast } from '../../../parts/toast.tsx';
import { sendFile } from '../../../parts/uploads/send-file.ts';

type Sending = { name: string; size: number; sent: number };

/** Uploads files, one after the other. */
export function SendFiles() {
  const client = useQueryClient();
  const input = useRef<HTMLInputElement>(null);
  const [sending, setSending] = useState<Sending | null>(null);

  const send = async (files: readonly File[]) => {
    for (const file of files) {
      setSending({ name: file.name, size: file.size, sent: 0 });
      try {
        await sendFile(file, (more) => setSending((now) => now && { ...now, sent: now.sent + more }));
        toast(t('{name} is uploaded.', { name: file.name }));
      } catch (error) {
        const fault = error instanceof Error ? error.message : String(error);
        toast(
          t('{name} did not arrive: {fault} Choose the same file again, and it continues where it stopped.', {
            name: file.name,
            fault,
          }),
          'fault',
        );
        break;
      } finally {
        await refresh(client, ['/core/v2/uploads']);
      }
    }
    setSending(null);
    if (input.current !== null) input.current.value = '';
  };

  return (
    <>
      {sending !== null && (
        <span role="status" className="muted small">
          {t('{name}: {sent} of {size}', {
            name: sending.name,
            sent: bytes(Math.min(sending.sent, sending.size)),
            size: bytes(sending.size),
          })}
        </span>
      )}
      <button type="button" className="primary" disabled={sending !== null} onClick={() => input.current?.click()}>
        <Upload aria-hidden size={16} /> {t('Send files')}
      </button>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        aria-label={t('Files to send')}
        onChange={({ target }) => void send([...(target.files ?? [])])}
      />
    </>
  );
}
