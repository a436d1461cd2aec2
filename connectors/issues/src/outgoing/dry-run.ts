import { cutText } from '@svc/service-kit/cut-text.ts';
import type { ReplyPlatform, StartContext } from '@svc/connector-kit';

const longestShown = 4000;

/** Says what would be posted, and posts nothing. */
export const createDryRun = (log: StartContext['log']): Pick<ReplyPlatform, 'post'> => ({
  async post({ chat, text, answers }) {
    log('info', 'would post (dry run)', { place: chat, answers, text: cutText(text, longestShown) });
    return 'dry-run';
  },
});
