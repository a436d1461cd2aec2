import { FileText, Image, Mic } from 'lucide-react';

type File = { name?: string | undefined; mime?: string | undefined; path: string };

/** Files of a message, by name: what they hold is shown nowhere in the page. */
export function Files({ files }: { files: readonly File[] }) {
  if (files.length === 0) return null;
  return (
    <ul className="files">
      {files.map((file, index) => (
        <li key={index} className="file">
          <FileIcon mime={file.mime ?? ''} /> <span>{file.name ?? file.path.split('/').at(-1)}</span>
        </li>
      ))}
    </ul>
  );
}

export function FileIcon({ mime }: { mime: string }) {
  if (mime.startsWith('image/')) return <Image aria-hidden size={16} />;
  return mime.startsWith('audio/') ? <Mic aria-hidden size={16} /> : <FileText aria-hidden size={16} />;
}
