import type { ChannelMessage, SendOutcome } from '../../src/delivery/channel-sender.ts';
import type { Records } from './records.ts';

export type ChannelMode = 'up' | 'away' | 'refusing' | 'slow';

/** The manager and the channel behind it: every text it has taken, by its idempotency id. It outlives the core. */
export function createModelChannel(records: Records) {
  const shown = new Map<string, string>();
  const refused = new Set<string>();
  const unanswered: (() => void)[] = [];
  let mode: ChannelMode = 'up';

  const show = ({ id, text }: ChannelMessage) => {
    const before = shown.get(id);
    records.rule(before === undefined || before === text, `${id} was pushed with "${before}" and with "${text}"`);
    const other = [...shown].find(([otherId, otherText]) => otherId !== id && otherText === text && /reply \d+ to/.test(text));
    records.rule(other === undefined, `"${text}" was pushed with two ids`);
    shown.set(id, text ?? '');
  };

  return {
    send(message: ChannelMessage): Promise<SendOutcome> {
      if (mode === 'away') return Promise.resolve({ delivered: false, permanent: false, error: 'the channel is away' });
      if (mode === 'refusing') refused.add(message.id);
      if (mode === 'refusing') return Promise.resolve({ delivered: false, permanent: true, error: 'the channel refuses' });
      show(message);
      if (mode === 'up') return Promise.resolve({ delivered: true });
      return new Promise((resolve) => unanswered.push(() => resolve({ delivered: true })));
    },
    /** Answers what it took slowly. */
    answer(): void {
      for (const answer of unanswered.splice(0)) answer();
    },
    become: (next: ChannelMode) => void (mode = next),
    texts: () => [...shown.values()],
    hasRefused: (id: string) => refused.has(id),
  };
}
