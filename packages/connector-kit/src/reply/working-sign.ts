import type { Envelope } from '@svc/contract/envelope.ts';
import type { OpenReply } from '../ingress/lazy-reply.ts';

export type WorkingSign = {
  /** Puts the sign at the message that an envelope came from, or removes it. A courtesy: it never rejects. */
  show(envelope: Envelope, isOn: boolean): Promise<unknown>;
  /** Where it cannot be shown. */
  isUnwanted?(envelope: Envelope): boolean;
  /** Whether a reaction of the reply stands in its place. */
  isReplaced: boolean;
};

/** While a turn works, the message that it answers has a sign. */
export const withWorkingSign =
  (openReply: OpenReply, { show, isUnwanted, isReplaced }: WorkingSign): OpenReply =>
  (envelope, turn) => {
    const reply = openReply(envelope, turn);
    if (envelope.message_id === undefined || isUnwanted?.(envelope) === true) return reply;
    const begun = show(envelope, true);
    const end = () => void begun.then(() => show(envelope, false));
    return {
      handlers: reply.handlers,
      async finish(result) {
        await reply.finish(result).finally(() => {
          if (!isReplaced || !result.actions.some(({ type }) => type === 'react')) end();
        });
      },
      async fail(error) {
        await reply.fail(error);
        end();
      },
    };
  };
