import type { ManifestEntry } from '@svc/contract/upload.ts';
import { inUnits } from '@svc/service-kit/words.ts';
import { visibleLine, type Style } from '../terminal.ts';

const timeOf = (at: number) => new Date(at).toLocaleString('sv-SE').slice(0, 16);

/** Files of the upload area, one a line; `next` says that there are older ones. */
export function renderUploads(files: readonly ManifestEntry[], next: string | null, style: Style): string {
  if (files.length === 0) return 'Nothing was uploaded. Send a file: ./svc upload FILE';
  const lines = files.map(({ id, created_at, bytes, name, conversation_key: key }) => {
    const where = key === null ? '' : style.dim(`  for ${visibleLine(key)}`);
    return `  ${style.bold(id)}  ${style.dim(timeOf(created_at))}  ${inUnits(bytes).padStart(9)}  ${visibleLine(name)}${where}`;
  });
  return [...lines, ...(next === null ? [] : [style.dim(`  More: ./svc upload list --before ${next}`)])].join('\n');
}
