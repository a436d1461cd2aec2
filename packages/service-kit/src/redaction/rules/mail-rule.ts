import { letterClass, unspacedClass } from '../letters.ts';
import { closers } from '../held-text.ts';
import { hitsIn, takeAt, type DetectionRule, type Found } from './rule.ts';

/** Top-level domains in scripts that are written without spaces: only the list tells where such an address ends. */
const unspacedDomains =
  'คอม ไทย ລາວ みんな アマゾン クラウド グーグル コム ストア セール ファッション ポイント 世界 中信 中国 中國 中文网 亚马逊 企业 佛山 信息 健康 八卦 公司 公益 台湾 台灣 商城 商店 商标 嘉里 嘉里大酒店 在线 大拿 天主教 娱乐 家電 广东 微博 慈善 我爱你 手机 招聘 政务 政府 新加坡 新闻 时尚 書籍 机构 淡马锡 游戏 澳門 点看 移动 组织机构 网址 网店 网站 网络 联通 谷歌 购物 通販 集团 電訊盈科 飞利浦 食品 餐厅 香格里拉 香港 닷넷 닷컴 삼성 한국'
    .split(' ')
    .toSorted((a, b) => b.length - a.length)
    .join('|');

const ats = ['@', '＠'];
/** The characters of a mail address (RFC 6531) and its host, letters of other scripts included. */
const word = String.raw`\w${letterClass}`;
const anyWord = word + unspacedClass;
const label = `A-Za-z0-9${letterClass}${unspacedClass}-`;
const dot = '[.．｡]';

/** Not after the user name in a link. */
const beginsBehind = (units: string): string => String.raw`(?<!\/\/[^\s/]{0,128}:)(?<![${units}.+@＠-])`;
/** At most this much of a script without spaces is masked, because nothing tells where the address begins. */
const unspacedPart = (length: string): string =>
  String.raw`[${anyWord}.%+-]{${length}}[${unspacedClass}](?:[._%+-][${word}.%+-]{0,63})?`;
const endsQuote = String.raw`[${word}\\${closers.replaceAll(/[\]"]/g, String.raw`\$&`)}]`;
const localParts = [
  String.raw`(?<!${endsQuote})"(?!\s)(?:[^"\\\r\n]|\\[^\r\n]){1,64}"`,
  String.raw`(?<=(?<!${endsQuote})\\{1,8}")(?!\s)[^"\\\r\n]{1,64}\\{1,8}"`,
  beginsBehind(anyWord) + unspacedPart('0,63'),
  `(?<=[${anyWord}.+-])${unspacedPart('63')}`,
  String.raw`${beginsBehind(`${word}/`)}[${word}.%+-]{1,64}`,
].join('|');
const topLevel = String.raw`(?:(?:xn--[A-Za-z0-9-]{1,59}|[A-Za-z${letterClass}]{2,24})(?![${word}/[])|(?:${unspacedDomains}|[Ａ-Ｚａ-ｚ]{2,24})(?![/[]))`;
const host = String.raw`[${label}]{1,63}(?:${dot}[${label}]{1,63}){0,6}${dot}${topLevel}`;
const regex = new RegExp(`(?<=(?<local>${localParts}))[${ats.join('')}](?<host>${host})`, 'dy');

/** Domains and addresses reserved for documentation belong to no person. */
const isReserved = (name: string): boolean => /(?:^|\.)example(?:\.(?:com|net|org))?$|\.(?:test|invalid)$/i.test(name);
const isFile = (name: string): boolean => /\.(?:png|jpe?g|svg|gif|webp|js|ts)$/i.test(name);

/** Mail addresses: plain, quoted (`"joe smith"@acme.io`), and in any script. */
export const mailRule: DetectionRule = {
  id: 'email',
  triggers: [{ opening: 'mail', words: ats }],
  find: (text, hits = hitsIn(text, ats)) =>
    takeAt({ regex }, text, hits, ({ indices, groups }): Found | null => {
      const name = groups?.['host'] ?? '';
      const [from, to] = [indices?.groups?.['local']?.[0], indices?.groups?.['host']?.[1]];
      if (from === undefined || to === undefined || isReserved(name) || isFile(name)) return null;
      return { from, to, kind: 'email' };
    }),
};
