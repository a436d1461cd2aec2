import { Mic, VolumeX } from 'lucide-react';
import { useRef } from 'react';
import type { Hearing } from './use-voice.ts';

type Props = {
  hearing: Hearing;
  speaks: boolean;
  listen(untilSilence: boolean): Promise<void>;
  finish(): Promise<void>;
  silence(): void;
};

/** Held so long, a press is one to talk in, which ends with it; a shorter one listens until the person is silent. */
const holdMs = 400;
const words: Record<Hearing, string> = { idle: 'Speak', hears: 'Finish speaking', understands: 'Understanding' };

export function MicButton({ hearing, speaks, listen, finish, silence }: Props) {
  const pressedAt = useRef<number | null>(null);
  const press = () => {
    if (hearing === 'understands') return;
    if (hearing === 'hears') return void finish();
    pressedAt.current = performance.now();
    void listen(true);
  };
  const release = () => {
    const held = pressedAt.current !== null && performance.now() - pressedAt.current > holdMs;
    pressedAt.current = null;
    if (held) void finish();
  };
  return (
    <>
      {speaks && (
        <button type="button" className="icon" aria-label="Stop reading aloud" title="Stop reading aloud" onClick={silence}>
          <VolumeX aria-hidden size={20} />
        </button>
      )}
      <button
        type="button"
        className={`round mic ${hearing}`}
        aria-label={words[hearing]}
        title={words[hearing]}
        aria-pressed={hearing === 'hears'}
        disabled={hearing === 'understands'}
        onPointerDown={({ button }) => button === 0 && press()}
        onPointerUp={release}
        onPointerCancel={release}
        onContextMenu={(event) => event.preventDefault()}
        onClick={({ detail }) => detail === 0 && press()}
      >
        <Mic aria-hidden size={20} />
      </button>
    </>
  );
}
