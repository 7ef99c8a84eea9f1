/// Jobs and their dependencies as Mermaid text: https://mermaid.js.org.
struct JobGraph {
  enum Source: Hashable {
    case node(Int)
    /// Something outside the graph: a job or a key.
    case outside(String)
  }

  private static let colours: [(JobState, String)] = [
    (.running, "#cce5ff"), (.succeeded, "#d4edda"), (.failed, "#f8d7da"),
  ]
  private var nodes: [String] = []
  private var states: [JobState: [String]] = [:]
  private var arrows: [String] = []
  private var outside = Slots<String>()

  mutating func add(_ name: String, _ state: JobState? = nil, after: [(Source, JobEdge.Condition)]) {
    let me = "n\(nodes.count)"
    let label = Self.escaped(name) + (state.map { "<br/>\($0)" } ?? "")
    nodes.append("\(me)[\"\(label)\"]")
    if let state { states[state, default: []].append(me) }
    for (source, condition) in after {
      let arrow =
        switch condition {
        case .succeeded: "-->"
        case .ended: "-->|ended|"
        case .failed: "-.->|failed|"
        }
      arrows.append("\(id(of: source)) \(arrow) \(me)")
    }
  }

  private mutating func id(of source: Source) -> String {
    switch source {
    case .node(let place): return "n\(place)"
    case .outside(let name): return "o\(outside.number(of: name))"
    }
  }

  var mermaid: String {
    let outside = outside.elements.enumerated().map { "o\($0)([\"\(Self.escaped($1))\"])" }
    let colours = Self.colours.flatMap { state, colour in
      states[state].map { ["classDef \(state) fill:\(colour)", "class \($0.joined(separator: ",")) \(state)"] } ?? []
    }
    return (["flowchart TD"] + (nodes + outside + arrows + colours).map { "  \($0)" }).joined(separator: "\n") + "\n"
  }

  private static func escaped(_ text: String) -> String {
    String(text.map { $0.isNewline ? " " : $0 }).replacing("#", with: "#35;").replacing("\"", with: "#quot;")
      .replacing("<", with: "#lt;").replacing(">", with: "#gt;")
  }
}

extension JobGraph.Source {
  /// `target` is nil for a node that is not in the plan.
  init(_ target: JobEdge.Target?, _ places: [JobID: Int] = [:]) {
    self =
      switch target {
      case .job(let id): places[id].map { .node($0) } ?? .outside("job \(id)")
      case .key(let key): .outside("key \(key)")
      case .sibling(let place): .node(place)
      case nil: .outside("a node of another plan")
      }
  }
}
