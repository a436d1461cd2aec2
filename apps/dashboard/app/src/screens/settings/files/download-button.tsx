import { t } from '@svc/chat-ui/language/t.ts';
import { Download } from 'lucide-react';
import { useState } from 'react';
import { download } from '../../../parts/download.ts';
import { toast } from '../../../parts/toast.tsx';

export function DownloadButton({ path, name }: { path: string; name: string }) {
  const [isBusy, setBusy] = useState(false);
  const save = async () => {
    setBusy(true);
    try {
      await download(path, name);
    } catch (error) {
      toast(error instanceof Error ? error.message : String(error), 'fault');
    } finally {
      setBusy(false);
    }
  };
  return (
    <button
      type="button"
      className="plain-button"
      disabled={isBusy}
      aria-label={t('Download {name}', { name })}
      onClick={() => void save()}
    >
      <Download aria-hidden size={16} /> {t('Download')}
    </button>
  );
}
