import { createHeadingGuard } from '@svc/service-kit/heading-guard.ts';
import { atOnce } from '@svc/service-kit/redaction/pace.ts';
import { channelHeads } from './channel-line.ts';

const withoutChannelLines = createHeadingGuard(channelHeads.map((head) => head.toLowerCase().replaceAll(' ', '')));

/** A person's text, shown next to lines of a connector: in a line that looks like one of those, the bracket becomes a parenthesis. */
export const typedText = (text: string): string => atOnce(withoutChannelLines(text));
