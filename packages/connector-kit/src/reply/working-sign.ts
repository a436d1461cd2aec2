import type { Envelope } from '@svc/contract/envelope.ts';
import type { OpenReply } from '../ingress/lazy-reply.ts';

export type WorkingSign = {
  /** Adds the sign to the message of an envelope, or removes it. It is a courtesy, so it never rejects. */
  show(envelope: Envelope, isOn: boolean): Promise<unknown>;
  /** True where the sign cannot be shown. */
  isUnwanted?(envelope: Envelope): boolean;
  /** Whether a reaction of the reply takes its place. */
  isReplaced: boolean;
};

/** Marks the message with a sign while the turn that answers it works. */
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
