import { describe, expect, it } from 'vitest';
import { COLUMNS_FROM, graphLayout, type Box, type GraphLayout } from './graph-layout.ts';
import type { GraphGroup, GraphNode, JobGraph } from './job-graph.ts';

const job = (jobId: string): GraphNode & { kind: 'job' } => ({
  kind: 'job',
  jobId,
  definitionKey: 'mail',
  state: 'queued',
});
const count: GraphNode = { kind: 'count', state: 'failed', words: '3 failed' };
const group = (relation: GraphGroup['relation'], ...nodes: GraphNode[]): GraphGroup => ({
  title: relation,
  relation,
  nodes,
});
const GRAPH: JobGraph = {
  self: job('self'),
  before: [group('after', job('a'), job('b')), group('child', job('c'))],
  after: [group('child', count, job('d'))],
};
const boxesOf = ({ self, before, after }: GraphLayout): Box[] => [
  self,
  ...[...before, ...after].flatMap(({ titleBox, nodes }) => [
    titleBox,
    ...nodes.map(({ box }) => box),
  ]),
];
const overlap = (a: Box, b: Box) =>
  a.left < b.left + b.width &&
  b.left < a.left + a.width &&
  a.top < b.top + b.height &&
  b.top < a.top + a.height;

describe.each([320, COLUMNS_FROM - 1, COLUMNS_FROM, 1_400])('graphLayout of %i pixels', (width) => {
  const layout = graphLayout(GRAPH, width);
  const boxes = boxesOf(layout);

  it('draws everything inside its area, and no two boxes over each other', () => {
    expect(layout.width).toBeLessThanOrEqual(width);
    for (const box of boxes) {
      expect(box.left).toBeGreaterThanOrEqual(0);
      expect(box.top).toBeGreaterThanOrEqual(0);
      expect(box.left + box.width).toBeLessThanOrEqual(layout.width);
      expect(box.top + box.height).toBeLessThanOrEqual(layout.height);
      expect(boxes.filter((other) => overlap(box, other))).toEqual([box]);
    }
  });

  it('has an edge per node, of the relation of its group', () => {
    expect(layout.edges.map(({ relation }) => relation)).toEqual([
      'after',
      'after',
      'child',
      'child',
      'child',
    ]);
  });
});

describe('graphLayout', () => {
  it('goes from left to right, and on a phone from top to bottom', () => {
    const wide = graphLayout(GRAPH, 900);
    expect(wide.before[0]?.titleBox.left).toBeLessThan(wide.self.left);
    expect(wide.after[0]?.titleBox.left).toBeGreaterThan(wide.self.left);
    const narrow = graphLayout(GRAPH, 320);
    expect(narrow.before[1]?.titleBox.top).toBeLessThan(narrow.self.top);
    expect(narrow.after[0]?.titleBox.top).toBeGreaterThan(narrow.self.top);
    expect(narrow.after[0]?.titleBox.left).toBe(narrow.self.left);
  });

  it('has no empty column', () => {
    expect(graphLayout({ ...GRAPH, before: [] }, 900).self.left).toBe(0);
    const alone = graphLayout({ ...GRAPH, after: [] }, 900);
    expect(alone.self.left + alone.self.width).toBe(alone.width);
  });
});
