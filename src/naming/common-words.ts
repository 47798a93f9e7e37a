/** Nouns and adjectives of everyday work with computers. None of them can be a person's name or an id. */
const COMMON = new Set(
  `access account action activity address agenda allowed amount answer api app application appointment archive article attachment
  attribute author availability average backup balance base64 basket batch benchmark bill block board body book booking branch
  browser bucket budget bug build busiest button cache calendar call campaign card cart category certificate change changed
  changelog channel chapter character chart chat cheapest check checklist city class client closed cloud cluster code collection
  color colour column command comment commit company compiler completed component config configuration connection console contact
  container content contract contributor conversation copy cost count country coverage crash credit cron currency customer
  dashboard data database dataset date day deadline definition delivered delivery dependency deployment description design
  detail device diagram diff difference digest directory discount disk docker docs document documentation domain draft due
  duplicate earliest element email embedding employee empty endpoint entity entry environment error estimate event example
  exchange expense expired export extension fact failed failing failure feature feed feedback field file filter flaky flight
  folder font form format free frequency frequent function graph group guide header heading headline health history holiday
  host hot hotel hour icon id image inactive inbox index indicator information insert instance integration invoice issue item
  job key keyword knowledge label language large largest latency latest layout lead letter level library license licence line
  link list local location lock log login logo logs longest loop lowest machine mail map markdown matrix media meeting member
  memory merge message metadata metric migration milestone minute missing model module month monthly most movie name namespace
  nested network newest news newsletter node note notification number object observation offer oldest open option order
  organisation organization outdated output overdue overview owner package page paragraph parameter part participant password
  patch path payment pdf pending percentage performance permission person phone photo pipeline place plan player plugin pod
  point poll popular port post presentation preview price priority problem process product profile progress project prompt
  property proposal pull query question queue quote range rate rating readme reason recent record recurring refund region
  regression relation release reminder replica repo repository report request requirement reservation resource response result
  revenue review role room route row rule run running salary sale sample schedule schema score screenshot script search section
  sender sentence sentiment series server service session setting shape sheet shipment shop shortest sign similar site size
  slot slow slowest snapshot snippet song source space spam spreadsheet sprint stack staging stale state statement statistic
  status step stock storage story string structure style subject subscription subtitle suite summary supplier survey syntax
  system table tag target task team template temperature term test text thread ticket tier time timeline timestamp timetable
  timezone title todo token tool top topic total trace track traffic training transaction transcript translation tree trend
  trip type unassigned uncommitted unpaid unread unresolved unused update upload url usage user value variable vendor version
  video view visitor vulnerability warehouse warning weather web webhook website week weekly weight wiki word work workflow
  workspace year yearly zone`.split(/\s+/),
);

export function isCommon(word: string): boolean {
  return COMMON.has(word) || COMMON.has(toSingular(word));
}

/** `categories` becomes `category`; wrong for some words, which then are not known. */
export function toSingular(word: string): string {
  if (word.endsWith("ies") && word.length > 4) return `${word.slice(0, -3)}y`;
  if (/(?:ss|x|ch|sh|us)es$/.test(word)) return word.slice(0, -2);
  return /[^s]s$/.test(word) ? word.slice(0, -1) : word;
}

export function toPlural(word: string): string {
  if (/[^s]s$/.test(word)) return word;
  if (/[^aeiou]y$/.test(word)) return `${word.slice(0, -1)}ies`;
  return /(?:s|x|ch|sh)$/.test(word) ? `${word}es` : `${word}s`;
}
