#include "out_of_tree/trapezoid.hpp"
#include "out_of_tree/watch.hpp"
#include "support/adamw_hparams.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"
#include "support/temporary_folder.hpp"

#include <monomorph/optim/averaged.hpp>
#include <monomorph/optim/by_class.hpp>
#include <monomorph/optim/lion.hpp>
#include <monomorph/optim/sgd.hpp>
#include <monomorph/train/hparams/hparams.hpp>

#include <nlohmann/json.hpp>

#include <filesystem>

namespace {

using namespace monomorph;
using namespace monomorph::train;
using namespace monomorph::testing;
using schedule::DecayKind;

schedule::WarmupDecayHparams& warmup_decay(Hparams& hparams) {
  return hparams.schedule.policy.as<schedule::WarmupDecayHparams>();
}
const schedule::WarmupDecayHparams& warmup_decay(const Hparams& hparams) {
  return hparams.schedule.policy.as<schedule::WarmupDecayHparams>();
}

Hparams valid() {
  Hparams hparams;
  hparams.data.train.value = {{"train.pbin"}};
  return hparams;
}

template <class Change> std::string refusal(Change change, std::int64_t ranks = 1) {
  Hparams hparams = valid();
  change(hparams);
  return error_of([&] { validate(hparams, ranks); });
}

}  // namespace

TEST_CASE("hyperparameters come from defaults, then the file, then --set") {
  const TemporaryFolder folder;
  const std::string file = folder / "run.json";
  write_bytes(file, R"({"optimizer": {"lr": 0.001, "clip": {"mode": "value"}}, "run": {"steps": 5}})");
  const Hparams hparams = read_hparams(file, {"optimizer.lr=3e-4", "optimizer.lr=2e-4", "schedule.kind=wsd"});
  CHECK(adamw(hparams).lr == 2e-4);
  CHECK(hparams.optimizer.clip.mode == ClipMode::value);
  CHECK(hparams.run.steps == 5);
  CHECK(warmup_decay(hparams).kind == DecayKind::wsd);
  CHECK(adamw(hparams).beta1 == 0.9);
}

TEST_CASE("a hyperparameter file that cannot be read is wrong usage") {
  const TemporaryFolder folder;
  const auto message = [](const std::string& file) { return error_of([&] { read_hparams(file, {}); }); };
  CHECK(contains(message(folder / "missing.json"), "[FILE-01]"));
  CHECK(contains(message(folder.path()), "[FILE-04]"));
  CHECK(contains(message("/dev/zero"), "[FILE-05]"));
  CHECK(contains(message("/dev/null"), "[HPARAM-05]"));
  for (const std::string& file : {folder / "missing.json", folder.path(), std::string("/dev/null")}) {
    try {
      read_hparams(file, {});
      FAIL("not refused: " << file);
    } catch (const Error& error) {
      CHECK(error.code() == ExitCode::usage);
    }
  }
  write_bytes(folder / "bad.json", "{\n  \"optimiser\": {}\n}");
  const std::string unknown = message(folder / "bad.json");
  CHECK(contains(unknown, "bad.json:2"));
  CHECK(contains(unknown, "\"optimizer\""));
}

TEST_CASE("every default lies within its own bounds and to_json round-trips") {
  const std::string json = to_json(Hparams{});
  const Hparams again = parse_hparams(json, "defaults");
  CHECK(to_json(again) == json);
  Hparams changed;
  adamw(changed).lr.value = 0.1 + 0.2;
  changed.checkpoint.keep.value.reset();
  changed.run.seed.value = 9'007'199'254'740'991;
  const Hparams read = parse_hparams(to_json(changed), "changed");
  CHECK(adamw(read).lr.value == 0.1 + 0.2);
  CHECK_FALSE(read.checkpoint.keep.value.has_value());
  CHECK(read.run.seed.value == 9'007'199'254'740'991);
}

TEST_CASE("every field can be set to its default from the command line") {
  Hparams defaults;
  const auto object = nlohmann::json::parse(to_json(defaults));
  for (const FieldRef& field : fields_of(defaults)) {
    std::string pointer = "/" + field.name;
    for (char& character : pointer) character = character == '.' ? '/' : character;
    const auto& value = object.at(nlohmann::json::json_pointer(pointer));
    Hparams hparams;
    set_hparams(hparams, {field.name + "=" + (value.is_string() ? value.get<std::string>() : value.dump())});
    CHECK(to_json(hparams) == to_json(defaults));
    CHECK_FALSE(field.doc.empty());
    CHECK(field.doc.find_first_of("|\n") == std::string_view::npos);  // would break the table of the documentation
  }
}

TEST_CASE("the schema has a default and a description for every field") {
  Hparams defaults;
  const auto document = nlohmann::json::parse(schema());
  for (const FieldRef& field : fields_of(defaults)) {
    std::string pointer;
    std::size_t begin = 0;
    for (std::size_t dot = 0; dot != std::string::npos; begin = dot + 1) {
      dot = field.name.find('.', begin);
      pointer += "/properties/" + field.name.substr(begin, dot - begin);
    }
    const auto& entry = document.at(nlohmann::json::json_pointer(pointer));
    CHECK(entry["description"] == std::string(field.doc));
    CHECK(entry.contains("default"));
  }
}

TEST_CASE("the documentation has the table of the hyperparameters as they are") {
  const std::string page = read_bytes(std::string(MONOMORPH_SOURCE_DIR) + "/docs/reference/hyperparameters.md");
  INFO("docs/reference/hyperparameters.md must contain:\n" << hparams_table());
  CHECK(contains(page, hparams_table()));
}

namespace {
template <class Section> std::string table_of(const std::string& section) {
  auto hparams = PolicyHparams::of<Section>();
  FieldList fields;
  fields.section(section, [&] { hparams.append_to(fields); });
  return fields_to_table(fields.take());
}
}  // namespace

TEST_CASE("the documentation has the tables of the optimizers' hyperparameters as they are") {
  const std::string page = read_bytes(std::string(MONOMORPH_SOURCE_DIR) + "/docs/reference/optimizers.md");
  for (const std::string& table :
       {table_of<optim::SgdHparams>("optimizer"), table_of<optim::LionHparams>("optimizer"),
        table_of<optim::MuonHparams>("optimizer.matrices"), table_of<optim::AverageHparams>("optimizer.average")}) {
    INFO("docs/reference/optimizers.md must contain:\n" << table);
    CHECK(contains(page, table));
  }
}

TEST_CASE("hyperparameters are those of the recipe's optimizer") {
  Hparams defaults;
  defaults.optimizer.policy = PolicyHparams::of<optim::ByClass<optim::Muon, optim::Sgd>::Hparams>();
  const std::string json =
      R"({"optimizer": {"matrices": {"lr": 0.01, "scale": "adamw"}, "others": {"nesterov": true}}})";
  const Hparams hparams = parse_hparams(json, "run.json", defaults);
  const auto& own = hparams.optimizer.policy.as<optim::ByClass<optim::Muon, optim::Sgd>::Hparams>();
  CHECK(own.matrices.lr == 0.01);
  CHECK(own.matrices.scale == optim::MuonScale::adamw);
  CHECK(own.others.nesterov);
  CHECK(to_json(parse_hparams(to_json(hparams), "again", defaults)) == to_json(hparams));
  CHECK(contains(error_of([&] { parse_hparams(R"({"optimizer": {"lr": 1}})", "run.json", defaults); }), "[HPARAM-01]"));
  CHECK(contains(error_of([&] { parse_hparams(json, "run.json"); }), "[HPARAM-01]"));
}

TEST_CASE("the documentation explains every error of hyperparameters") {
  const std::string page = read_bytes(std::string(MONOMORPH_SOURCE_DIR) + "/docs/reference/hyperparameters.md");
  for (const char* const id :
       {"01", "02", "03", "04", "05", "06", "07", "10", "11", "12", "13", "14", "15", "16", "17", "18", "19"}) {
    CHECK(contains(page, std::string("HPARAM-") + id));
  }
}

TEST_CASE("training data must be named") {
  CHECK(refusal([](Hparams&) {}) == "(no error)");
  CHECK(contains(refusal([](Hparams& hparams) { hparams.data.train.value.clear(); }), "[HPARAM-10] data.train"));
}

TEST_CASE("the global batch is a multiple of micro-batch times ranks") {
  const auto with = [](std::int64_t global_batch, std::int64_t micro_batch, std::int64_t ranks) {
    return refusal(
        [&](Hparams& hparams) {
          hparams.batch.global_batch.value = global_batch;
          hparams.batch.micro_batch.value = micro_batch;
        },
        ranks);
  };
  CHECK(with(48, 8, 3) == "(no error)");
  const std::string message = with(40, 8, 3);
  CHECK(contains(message, "[HPARAM-11] batch.global_batch = 40"));
  CHECK(contains(message, "8 x 3 = 24"));
  CHECK(contains(message, "to 24 or 48"));
  CHECK_FALSE(contains(message, "batch.micro_batch to"));  // 40 are no multiple of 3
  CHECK(contains(with(8, 8, 2), "change batch.micro_batch to 4, or batch.global_batch to 16"));
  CHECK(contains(with(24, 5, 2), "change batch.micro_batch to 4, or batch.global_batch to 20 or 30"));
  CHECK(contains(with(4, 8, 1), "change batch.micro_batch to 4, or batch.global_batch to 8"));
  CHECK_FALSE(contains(with(4, 8, 1), "8 or 8"));
}

TEST_CASE("warm-up and decay fit into the run") {
  const auto with = [](DecayKind kind, std::int64_t warmup_steps, OptionalCount decay_steps) {
    return refusal([&](Hparams& hparams) {
      hparams.run.steps.value = 100;
      warmup_decay(hparams).kind.value = kind;
      warmup_decay(hparams).warmup_steps.value = warmup_steps;
      warmup_decay(hparams).decay_steps.value = decay_steps;
    });
  };
  CHECK(with(DecayKind::cosine, 100, std::nullopt) == "(no error)");
  CHECK(contains(with(DecayKind::cosine, 101, std::nullopt), "[HPARAM-12] schedule.warmup_steps = 101"));
  CHECK(with(DecayKind::linear, 40, 60) == "(no error)");
  CHECK(contains(with(DecayKind::linear, 41, 60), "[HPARAM-13]"));
  CHECK(contains(with(DecayKind::wsd, 41, 60), "41 + 60 = 101"));
  CHECK(contains(with(DecayKind::wsd, 0, std::nullopt), "[HPARAM-14] schedule.decay_steps"));
  CHECK(with(DecayKind::wsd, 0, 20) == "(no error)");
  CHECK(contains(with(DecayKind::constant, 0, 20), "[HPARAM-15] schedule.decay_steps"));
  CHECK(contains(with(DecayKind::inverse_sqrt, 0, 20), "\"inverse_sqrt\""));
  CHECK(with(DecayKind::inverse_sqrt, 10, std::nullopt) == "(no error)");
}

TEST_CASE("evaluation during training needs data for it") {
  CHECK(
      contains(refusal([](Hparams& hparams) { hparams.evaluation.every.value = 10; }), "[HPARAM-16] data.evaluation"));
  CHECK(refusal([](Hparams& hparams) {
          hparams.evaluation.every.value = 10;
          hparams.data.evaluation.value = {{"", "held_out.pbin"}};
        }) == "(no error)");
}

TEST_CASE("several held-out sets have names and files of their own, of which one decides what is best") {
  const auto with_sets = [](const NamedPaths& sets, const std::string& best_by = "", bool keep_best = false) {
    return refusal([&](Hparams& hparams) {
      hparams.data.evaluation.value = sets;
      hparams.checkpoint.best_by.value = best_by;
      hparams.checkpoint.keep_best.value = keep_best;
    });
  };
  const NamedPaths two{{"wiki", "a.pbin"}, {"code-2.0_x", "b.pbin"}};
  CHECK(with_sets(two) == "(no error)");
  CHECK(with_sets(two, "code-2.0_x", true) == "(no error)");
  CHECK(with_sets({{"", "a.pbin"}}, "", true) == "(no error)");
  CHECK(with_sets({{"wiki", "a.pbin"}}, "", true) == "(no error)");
  for (const char* const name : {"", "a b", "a/b", "\n", "\xc3\xa4", "a\"b"})
    CHECK(contains(with_sets({{name, "a.pbin"}, {"b", "b.pbin"}}), "[HPARAM-20]"));
  CHECK(contains(with_sets({{std::string(65, 'a'), "a.pbin"}}), "[HPARAM-20]"));
  CHECK(contains(with_sets({{"a", ""}}), "[HPARAM-20] the set \"a\""));
  CHECK(contains(with_sets({{"a", "x/a.pbin"}, {"b", "x/../x/a.pbin"}}), "[HPARAM-21] \"a\" and \"b\""));
  CHECK(contains(with_sets(two, "", true), "[HPARAM-22] checkpoint.best_by"));
  const std::string unknown = with_sets(two, "wikki");
  CHECK((contains(unknown, "[HPARAM-22]") && contains(unknown, "wikki") && contains(unknown, "\"wiki\"")));
  CHECK(contains(with_sets({{"", "a.pbin"}}, "a"), "[HPARAM-22]"));
  CHECK(contains(with_sets({}, "a"), "[HPARAM-22]"));
}

TEST_CASE("a micro-batch that is left open is 8, or the most that the ranks can share") {
  const auto chosen = [](std::int64_t global_batch, std::int64_t ranks,
                         ReductionOrder order = ReductionOrder::any_order) {
    Hparams hparams = valid();
    hparams.batch.global_batch.value = global_batch;
    hparams.batch.reduction.value = order;
    choose_micro_batch(hparams, ranks);
    CHECK(contains(to_json(hparams), "\"micro_batch\": " + std::to_string(micro_batch_of(hparams))));
    return micro_batch_of(hparams);
  };
  CHECK(contains(to_json(Hparams{}), "\"micro_batch\": \"auto\""));
  CHECK(chosen(8, 1) == 8);
  CHECK(chosen(64, 1) == 8);
  CHECK(chosen(8, 2) == 4);
  CHECK(chosen(8, 4) == 2);
  CHECK(chosen(8, 8) == 1);
  CHECK(chosen(12, 1) == 6);
  CHECK(chosen(22, 2) == 1);
  CHECK(chosen(18, 3) == 6);
  CHECK(chosen(7, 2) == 1);  // refused: it names what the global batch may be
  CHECK(chosen(1'000'000'000, 1) == 8);
  CHECK(chosen(8, 2, ReductionOrder::fixed_tree) == 8);  // as many ranks have the bits of one
  Hparams given = valid();
  given.batch.micro_batch.value = 3;
  choose_micro_batch(given, 2);
  CHECK(micro_batch_of(given) == 3);
}

TEST_CASE("a folder must have a name") {
  const auto with = [](const char* field) {
    return refusal([&](Hparams& hparams) { set_hparams(hparams, {std::string(field) + "="}); });
  };
  for (const char* const field : {"run.output_dir", "checkpoint.directory", "checkpoint.resume"})
    CHECK(with(field).starts_with(std::string("[HPARAM-19] ") + field + " must not be empty"));
  for (const char* const field : {"data.evaluation", "data.tokenizer"}) CHECK(with(field) == "(no error)");
}

TEST_CASE("all mistakes of file, --set and relations are told at once, and those alone") {
  const TemporaryFolder folder;
  const std::string file = folder / "run.json";
  const auto mistakes_of = [&](const std::string& json, const std::vector<std::string>& sets) {
    write_bytes(file, json);
    return error_lines_of([&] {
      Mistakes mistakes;
      const Hparams hparams = read_hparams(file, sets, mistakes);
      validate(hparams, 3, mistakes);
      mistakes.throw_if_any();
    });
  };
  const auto ids = [](const std::vector<std::string>& lines) {
    std::string all;
    for (const std::string& line : lines) all += line.substr(0, std::string_view("[HPARAM-01]").size());
    return all;
  };
  const std::string broken = R"({
 "run": {"output_dir": "", "steps": 10},
 "optimiser": {"lr": 1},
 "batch": {"global_batch": 8, "micro_batch": 4, "reduction": "fixed_tree"},
 "schedule": {"kind": "wsd", "warmup_steps": 11},
 "evaluation": {"every": 5},
 "optimizer": {"lr": -1}})";
  CHECK(ids(mistakes_of(broken, {"optimizer.beta1=2", "checkpoint.resume"})) ==
        "[HPARAM-01][HPARAM-03][HPARAM-03][HPARAM-06][HPARAM-19][HPARAM-10][HPARAM-11][HPARAM-18][HPARAM-12]"
        "[HPARAM-14][HPARAM-16]");
  // What is wrong by itself, or was meant by a key that is misspelt, has no consequences.
  CHECK(ids(mistakes_of(R"({"data": {"trian": "x"}, "batch": {"global_batch": 7}})", {})) == "[HPARAM-01][HPARAM-11]");
  CHECK(ids(mistakes_of(R"({"data": {"train": 5}, "batch": {"global_batch": 0}})", {})) == "[HPARAM-02][HPARAM-03]");
  CHECK(ids(mistakes_of(R"({"run": {"steps": "ten"}, "schedule": {"warmup_steps": 5000}, "data": {"train": "x"},
                            "batch": {"global_batch": 24}})",
                        {})) == "[HPARAM-02]");
  CHECK(ids(mistakes_of(R"({"data": {"train": "x"}, "batch": {"global_batch": 24}, "schedlue": {"kind": "wsd"}})",
                        {})) == "[HPARAM-01]");
  CHECK(ids(mistakes_of(R"({"batch": {"global_batch": 7}, )", {"data.evaluation=x", "log.every=0"})) ==
        "[HPARAM-05][HPARAM-03]");
  CHECK(ids(mistakes_of("{}", {"data.train=", "data.train"})) == "[HPARAM-06][HPARAM-11]");
}

TEST_CASE("a recipe's schedule and observer bring the fields of their sections, and their mistakes") {
  Hparams defaults = valid();
  defaults.schedule = ScheduleHparams::of<stranger::Trapezoid>();
  defaults.observer.policy = PolicyHparams::of<stranger::Watch::Hparams>();
  CHECK(contains(schema(defaults), "\"cool_down\""));
  CHECK(contains(schema(defaults), "\"stop_above\""));
  CHECK_FALSE(contains(schema(defaults), "\"final_fraction\""));
  const TemporaryFolder folder;
  const std::string file = folder / "run.json";
  const auto lines_of = [&](const std::string& json) {
    write_bytes(file, json);
    return error_lines_of([&] {
      Mistakes mistakes;
      validate(read_hparams(file, {"run.steps=10", "observer.every=0"}, mistakes, defaults), 1, mistakes);
      mistakes.throw_if_any();
    });
  };
  const auto lines = lines_of(R"({"schedule": {"kind": "wsd", "rise": 8, "cool_down": 4}, "data": {"trian": "x"}})");
  REQUIRE(lines.size() == 4);
  CHECK(contains(lines[0], "[HPARAM-01]"));
  CHECK(contains(lines[0], "schedule.kind"));
  CHECK(contains(lines[1], "[HPARAM-01]"));
  CHECK(contains(lines[1], "data.trian"));
  CHECK(contains(lines[2], "[HPARAM-03]"));
  CHECK(contains(lines[2], "observer.every"));
  CHECK(contains(lines[3], "[STRANGE-01] schedule.rise + schedule.cool_down = 8 + 4 must be at most run.steps = 10"));
}
