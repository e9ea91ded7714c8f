import type { GraphGroup, GraphNode, JobGraph } from './job-graph.ts';

/** Where to draw a graph, in pixels. */
export interface GraphLayout {
  width: number;
  height: number;
  self: Box;
  before: PlacedGroup[];
  after: PlacedGroup[];
  edges: Edge[];
}

export interface PlacedGroup {
  title: string;
  titleBox: Box;
  nodes: { node: GraphNode; box: Box }[];
}

export interface Box {
  left: number;
  top: number;
  width: number;
  height: number;
}

/** An SVG path that ends at the later job. */
export interface Edge {
  relation: GraphGroup['relation'];
  path: string;
}

const NODE_HEIGHT = 50;
const COUNT_HEIGHT = 30;
const TITLE_HEIGHT = 22;
const GAP = 8;
const GROUP_GAP = 14;
/** Between two columns: room for the edges. */
const GUTTER = 52;
const COLUMN_MAX = 280;
/** Below this width the columns are under each other. */
export const COLUMNS_FROM = 560;
const INDENT = 26;
const SPINE = 9;
/** The arrow ends a little before the node. */
const ARROW = 3;

export function graphLayout(graph: JobGraph, width: number): GraphLayout {
  return width < COLUMNS_FROM ? stacked(graph, width) : inColumns(graph, width);
}

/** What is before the job, the job, and what is after it, from left to right. */
function inColumns(graph: JobGraph, width: number): GraphLayout {
  const sides = [graph.before, graph.after].filter((groups) => groups.length > 0).length;
  const columnWidth = Math.min(COLUMN_MAX, Math.floor((width - sides * GUTTER) / (sides + 1)));
  const height = Math.max(heightOf(graph.before), heightOf(graph.after), NODE_HEIGHT);
  const step = columnWidth + GUTTER;
  const selfLeft = graph.before.length > 0 ? step : 0;
  const centred = (groups: readonly GraphGroup[]) => Math.round((height - heightOf(groups)) / 2);
  const before = place(graph.before, 0, centred(graph.before), columnWidth);
  const after = place(graph.after, selfLeft + step, centred(graph.after), columnWidth);
  const self = {
    left: selfLeft,
    top: Math.round((height - NODE_HEIGHT) / 2),
    width: columnWidth,
    height: NODE_HEIGHT,
  };
  const edges = [
    ...edgesOf(graph.before, before, (box) => across(box, self)),
    ...edgesOf(graph.after, after, (box) => across(self, box)),
  ];
  return { width: sides * step + columnWidth, height, self, before, after, edges };
}

/** One below the other, for a phone; the edges are on the left side. */
function stacked(graph: JobGraph, width: number): GraphLayout {
  const nodeWidth = width - INDENT;
  const before = place(graph.before, INDENT, 0, nodeWidth);
  const selfTop = graph.before.length > 0 ? heightOf(graph.before) + GROUP_GAP : 0;
  const self = { left: INDENT, top: selfTop, width: nodeWidth, height: NODE_HEIGHT };
  const after = place(graph.after, INDENT, selfTop + NODE_HEIGHT + GROUP_GAP, nodeWidth);
  const edges = [
    ...edgesOf(graph.before, before, (box) => down(box, self)),
    ...edgesOf(graph.after, after, (box) => down(self, box)),
  ];
  const below = graph.after.length > 0 ? GROUP_GAP + heightOf(graph.after) : 0;
  return { width, height: selfTop + NODE_HEIGHT + below, self, before, after, edges };
}

function heightOf(groups: readonly GraphGroup[]): number {
  const heights = groups.map(({ nodes }) =>
    nodes.reduce((sum, node) => sum + nodeHeight(node) + GAP, TITLE_HEIGHT - GAP),
  );
  return heights.reduce((sum, one) => sum + one + GROUP_GAP, heights.length > 0 ? -GROUP_GAP : 0);
}

function nodeHeight({ kind }: GraphNode): number {
  return kind === 'job' ? NODE_HEIGHT : COUNT_HEIGHT;
}

function place(
  groups: readonly GraphGroup[],
  left: number,
  from: number,
  width: number,
): PlacedGroup[] {
  let top = from;
  return groups.map(({ title, nodes }) => {
    const titleBox = { left, top, width, height: TITLE_HEIGHT };
    top += TITLE_HEIGHT;
    const placed = nodes.map((node) => {
      const box = { left, top, width, height: nodeHeight(node) };
      top += box.height + GAP;
      return { node, box };
    });
    top += GROUP_GAP - GAP;
    return { title, titleBox, nodes: placed };
  });
}

function edgesOf(
  groups: readonly GraphGroup[],
  placed: readonly PlacedGroup[],
  draw: (box: Box) => string,
): Edge[] {
  return placed.flatMap(({ nodes }, index) =>
    nodes.map(({ box }) => ({ relation: groups[index]?.relation ?? 'after', path: draw(box) })),
  );
}

const middle = ({ top, height }: Box) => top + height / 2;

function across(from: Box, to: Box): string {
  const [x1, x2] = [from.left + from.width, to.left - ARROW];
  const [y1, y2] = [middle(from), middle(to)];
  const bend = (x1 + x2) / 2;
  return `M${x1} ${y1}C${bend} ${y1} ${bend} ${y2} ${x2} ${y2}`;
}

function down(from: Box, to: Box): string {
  return `M${from.left} ${middle(from)}H${SPINE}V${middle(to)}H${to.left - ARROW}`;
}
