import { createHeadingGuard } from '@svc/service-kit/heading-guard.ts';
import { atOnce } from '@svc/service-kit/redaction/pace.ts';
import { channelHeads } from './channel-line.ts';

const withoutChannelLines = createHeadingGuard(channelHeads.map((head) => head.toLowerCase().replaceAll(' ', '')));

/** What a person wrote, beside lines of a connector: the bracket of a line that reads like one of those becomes a parenthesis. */
export const typedText = (text: string): string => atOnce(withoutChannelLines(text));
