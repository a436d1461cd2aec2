import { createHeadingGuard } from '@svc/service-kit/heading-guard.ts';
import { atOnce } from '@svc/service-kit/redaction/pace.ts';

/** How the lines begin that connectors put around what people write: in brackets, in lower-case letters alone. */
const channelLines = [
  'forwarded',
  'inanswerto',
  'reactedwith',
  'aboutamessage',
  'written',
  'saidby',
  'voicemessage',
  'videomessage',
  'photoof',
  'livelocationasit',
  'astorywhichbots',
  'mediathathas',
] as const;

const withoutChannelLines = createHeadingGuard(channelLines);

/** What a person wrote, beside lines of a connector: the bracket of a line that reads like one of those becomes a parenthesis. */
export const typedText = (text: string): string => atOnce(withoutChannelLines(text));
