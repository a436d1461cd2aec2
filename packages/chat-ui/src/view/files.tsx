import { FileText, Image, Mic } from 'lucide-react';
import { useEffect, useState } from 'react';
import { t } from '../language/t.ts';

type File = { name?: string | undefined; mime?: string | undefined; path: string };

/** What a file of the conversation holds. Rejects with words for the person. */
export type LoadFile = (file: { path: string }) => Promise<Blob>;

type Props = { files: readonly File[]; load?: LoadFile | undefined };

/** Files of a message. Where they can be loaded, pictures are shown and each can be saved. */
export function Files({ files, load }: Props) {
  if (files.length === 0) return null;
  return (
    <ul className="files">
      {files.map((file, index) => (
        <li key={index}>
          {load === undefined || file.path === '' ? (
            <span className="file">
              <FileIcon mime={file.mime ?? ''} /> <span>{nameOf(file)}</span>
            </span>
          ) : (
            <LoadedFile file={file} load={load} />
          )}
        </li>
      ))}
    </ul>
  );
}

const nameOf = ({ name, path }: File): string => name ?? path.split('/').at(-1) ?? path;

/** What a browser shows without running anything of it. */
const pictures: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/avif']);

function LoadedFile({ file, load }: { file: File; load: LoadFile }) {
  const [fault, setFault] = useState<string | null>(null);
  const picture = usePicture(file, load);
  const save = async () => {
    setFault(null);
    try {
      saveAs(await load(file), nameOf(file));
    } catch (error) {
      setFault(error instanceof Error ? error.message : String(error));
    }
  };
  return (
    <>
      {picture !== null && <img className="picture" src={picture} alt={nameOf(file)} />}
      <button type="button" className="file" aria-label={t('Save {file}', { file: nameOf(file) })} onClick={() => void save()}>
        <FileIcon mime={file.mime ?? ''} /> <span>{nameOf(file)}</span>
      </button>
      {fault !== null && (
        <p className="fault" role="alert">
          {fault}
        </p>
      )}
    </>
  );
}

/** An address of the picture in this page; null for what is no picture, or cannot be had: then its name alone is shown. */
function usePicture({ path, mime = '' }: File, load: LoadFile): string | null {
  const [url, setUrl] = useState<string | null>(null);
  useEffect(() => {
    if (!pictures.has(mime)) return;
    let made: string | null = null;
    let isGone = false;
    load({ path }).then(
      (blob) => {
        if (isGone) return;
        made = URL.createObjectURL(new Blob([blob], { type: mime }));
        setUrl(made);
      },
      () => undefined,
    );
    return () => {
      isGone = true;
      if (made !== null) URL.revokeObjectURL(made);
    };
  }, [path, mime, load]);
  return url;
}

/** Without its type: whatever it is, it is saved and not opened. */
function saveAs(blob: Blob, name: string): void {
  const url = URL.createObjectURL(new Blob([blob], { type: 'application/octet-stream' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

/** A picture that is in this browser, as long as it is shown; for anything else the sign of its kind. */
export function Preview({ file }: { file: globalThis.File }) {
  const [url, setUrl] = useState<string | null>(null);
  useEffect(() => {
    if (!pictures.has(file.type)) return;
    const made = URL.createObjectURL(file);
    setUrl(made);
    return () => {
      setUrl(null);
      URL.revokeObjectURL(made);
    };
  }, [file]);
  return url === null ? <FileIcon mime={file.type} /> : <img className="preview" src={url} alt="" />;
}

export function FileIcon({ mime }: { mime: string }) {
  if (mime.startsWith('image/')) return <Image aria-hidden size={16} />;
  return mime.startsWith('audio/') ? <Mic aria-hidden size={16} /> : <FileText aria-hidden size={16} />;
}
