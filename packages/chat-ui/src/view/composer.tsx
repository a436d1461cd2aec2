import { ArrowUp, Camera, Paperclip, Square, X } from 'lucide-react';
import {
  type ClipboardEvent,
  type DragEvent,
  type KeyboardEvent,
  type ReactNode,
  type RefObject,
  useLayoutEffect,
  useState,
} from 'react';
import { t } from '../language/t.ts';
import { Preview } from './files.tsx';
import { isComposing } from './is-composing.ts';

type Props = {
  text: string;
  files: readonly File[];
  isRunning: boolean;
  placeholder: string;
  /** Where the keyboard is on the screen, Enter begins a new line. */
  enterSends: boolean;
  input: RefObject<HTMLTextAreaElement | null>;
  /** More buttons, such as the microphone. */
  children?: ReactNode;
  onText(text: string): void;
  onFiles(files: readonly File[]): void;
  onSend(): void;
  /** Where it can: ends the turn that runs, and says this at once. */
  onInterrupt?: (() => void) | undefined;
  /** Where the words go, when that is not plain. */
  place?: string | undefined;
  onStop(): void;
};

/** Where a message is written: grows with it, takes files by choice, paste, drop and camera. */
export function Composer({
  text,
  files,
  isRunning,
  placeholder,
  enterSends,
  input,
  children,
  onText,
  onFiles,
  onSend,
  onInterrupt,
  place,
  onStop,
}: Props) {
  const [isOver, setIsOver] = useState(false);
  const sendWords = isRunning && onInterrupt !== undefined ? t('Send after this turn') : t('Send message');
  const canSend = text.trim() !== '' || files.length > 0;
  const add = (added: Iterable<File>) => onFiles([...files, ...added]);

  useLayoutEffect(() => {
    const element = input.current;
    if (element === null) return;
    element.style.height = 'auto';
    element.style.height = `${element.scrollHeight}px`;
  }, [text, input]);

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || event.shiftKey || isComposing(event.nativeEvent)) return;
    if (!enterSends && !event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    if (canSend) onSend();
  };
  const onPaste = (event: ClipboardEvent) => {
    if (event.clipboardData.files.length === 0) return;
    event.preventDefault();
    add(event.clipboardData.files);
  };
  const onDrop = (event: DragEvent) => {
    event.preventDefault();
    setIsOver(false);
    add(event.dataTransfer.files);
  };

  return (
    <form
      className={['composer', isOver ? 'drop' : '', place === undefined ? '' : 'elsewhere'].join(' ').trim()}
      aria-label={t('New message')}
      onSubmit={(event) => {
        event.preventDefault();
        if (canSend) onSend();
      }}
      onDragOver={(event) => {
        event.preventDefault();
        setIsOver(true);
      }}
      onDragLeave={() => setIsOver(false)}
      onDrop={onDrop}
    >
      {place !== undefined && <p className="place">{place}</p>}
      <ChosenFiles files={files} onFiles={onFiles} />
      <textarea
        ref={input}
        rows={1}
        value={text}
        placeholder={placeholder}
        aria-label={t('Message')}
        enterKeyHint={enterSends ? 'send' : 'enter'}
        onChange={(event) => onText(event.target.value)}
        onKeyDown={onKeyDown}
        onPaste={onPaste}
      />
      <div className="composer-buttons">
        <FileButton label={t('Attach files')} onPick={add}>
          <Paperclip aria-hidden size={20} />
        </FileButton>
        <FileButton label={t('Take a photo')} onPick={add} camera>
          <Camera aria-hidden size={20} />
        </FileButton>
        <span className="space" />
        {children}
        {isRunning && (
          <button
            type="button"
            className="round stop"
            onClick={onStop}
            aria-label={t('Stop the answer')}
            title={t('Stop the answer')}
          >
            <Square aria-hidden size={16} fill="currentColor" />
          </button>
        )}
        {isRunning && canSend && onInterrupt !== undefined && (
          <button type="button" className="plain-button" onClick={onInterrupt}>
            {t('Stop and say')}
          </button>
        )}
        {(!isRunning || canSend) && (
          <button type="submit" className="round send" disabled={!canSend} aria-label={sendWords} title={sendWords}>
            <ArrowUp aria-hidden size={20} />
          </button>
        )}
      </div>
    </form>
  );
}

function ChosenFiles({ files, onFiles }: Pick<Props, 'files' | 'onFiles'>) {
  if (files.length === 0) return null;
  return (
    <ul className="files">
      {files.map((file, index) => (
        <li key={index} className="file">
          <Preview file={file} /> <span>{file.name}</span>
          <button
            type="button"
            className="icon"
            aria-label={t('Remove {file}', { file: file.name })}
            onClick={() => onFiles(files.filter((_, at) => at !== index))}
          >
            <X aria-hidden size={14} />
          </button>
        </li>
      ))}
    </ul>
  );
}

type FileButtonProps = { label: string; camera?: boolean; children: ReactNode; onPick(files: Iterable<File>): void };

function FileButton({ label, camera = false, children, onPick }: FileButtonProps) {
  return (
    <label className="icon file-button" title={label}>
      {children}
      <input
        type="file"
        className="unseen"
        aria-label={label}
        multiple={!camera}
        {...(camera ? { accept: 'image/*', capture: 'environment' as const } : {})}
        onChange={({ target }) => {
          onPick([...(target.files ?? [])]);
          target.value = '';
        }}
      />
    </label>
  );
}
