#pragma once

/// Names that are no member of a recipe but a slip of the finger away from one: C++20 cannot list a type's members, so
/// a rule looks for these (rule/member_rules.hpp). Of each right name: every single deletion, transposition, doubling
/// and substitution by a neighbour on a QWERTY keyboard (tests/unit/plan/near_miss_names_test.cpp makes them again and
/// compares), then names by which other systems call it. X(name) is expanded for each.

// clang-format off
#define MONOMORPH_NEAR_MISSES_MODEL(X) \
  X(odel) X(mdel) X(moel) X(modl) X(mode) X(omdel) X(mdoel) X(moedl) X(modle) X(mmodel) X(moodel) X(moddel) X(modeel) \
  X(modell) X(jodel) X(kodel) X(nodel) X(midel) X(mkdel) X(mldel) X(mpdel) X(mocel) X(moeel) X(mofel) X(morel) \
  X(mosel) X(moxel) X(moddl) X(modrl) X(modsl) X(modwl) X(modek) X(modeo) X(modep) X(models) X(model_spec) \
  X(modelspec) X(Model)
#define MONOMORPH_NEAR_MISSES_SHARDING(X) \
  X(harding) X(sarding) X(shrding) X(shading) X(sharing) X(shardng) X(shardig) X(shardin) X(hsarding) X(sahrding) \
  X(shrading) X(shadring) X(sharidng) X(shardnig) X(shardign) X(ssharding) X(shharding) X(shaarding) X(sharrding) \
  X(shardding) X(shardiing) X(shardinng) X(shardingg) X(aharding) X(dharding) X(eharding) X(wharding) X(xharding) \
  X(zharding) X(sbarding) X(sgarding) X(sjarding) X(snarding) X(suarding) X(syarding) X(shqrding) X(shsrding) \
  X(shwrding) X(shzrding) X(shadding) X(shaeding) X(shafding) X(shatding) X(sharcing) X(shareing) X(sharfing) \
  X(sharring) X(sharsing) X(sharxing) X(shardjng) X(shardkng) X(shardong) X(shardung) X(shardibg) X(shardihg) \
  X(shardijg) X(shardimg) X(shardinb) X(shardinf) X(shardinh) X(shardint) X(shardinv) X(shardiny) X(shard) X(shards) \
  X(sharded) X(shard_strategy) X(sharding_strategy) X(strategy) X(parallelism) X(parallel) X(Sharding) X(fsdp)
#define MONOMORPH_NEAR_MISSES_PRECISION(X) \
  X(recision) X(pecision) X(prcision) X(preision) X(precsion) X(preciion) X(precison) X(precisin) X(precisio) \
  X(rpecision) X(percision) X(prceision) X(preicsion) X(precsiion) X(preciison) X(precisoin) X(precisino) \
  X(pprecision) X(prrecision) X(preecision) X(preccision) X(preciision) X(precission) X(precisiion) X(precisioon) \
  X(precisionn) X(lrecision) X(orecision) X(pdecision) X(peecision) X(pfecision) X(ptecision) X(prdcision) \
  X(prrcision) X(prscision) X(prwcision) X(predision) X(prefision) X(prevision) X(prexision) X(precjsion) \
  X(precksion) X(precosion) X(precusion) X(preciaion) X(precidion) X(precieion) X(preciwion) X(precixion) \
  X(precizion) X(precisjon) X(preciskon) X(precisoon) X(precisuon) X(precisiin) X(precisikn) X(precisiln) \
  X(precisipn) X(precisiob) X(precisioh) X(precisioj) X(precisiom) X(precisions) X(dtype) X(mixed_precision) \
  X(Precision)
#define MONOMORPH_NEAR_MISSES_CHECKPOINTING(X) \
  X(heckpointing) X(ceckpointing) X(chckpointing) X(chekpointing) X(checpointing) X(checkointing) X(checkpinting) \
  X(checkponting) X(checkpoiting) X(checkpoining) X(checkpointng) X(checkpointig) X(checkpointin) X(hceckpointing) \
  X(cehckpointing) X(chcekpointing) X(chekcpointing) X(checpkointing) X(checkopinting) X(checkpionting) \
  X(checkponiting) X(checkpoitning) X(checkpoinitng) X(checkpointnig) X(checkpointign) X(ccheckpointing) \
  X(chheckpointing) X(cheeckpointing) X(checckpointing) X(checkkpointing) X(checkppointing) X(checkpoointing) \
  X(checkpoiinting) X(checkpoinnting) X(checkpointting) X(checkpointiing) X(checkpointinng) X(checkpointingg) \
  X(dheckpointing) X(fheckpointing) X(vheckpointing) X(xheckpointing) X(cbeckpointing) X(cgeckpointing) \
  X(cjeckpointing) X(cneckpointing) X(cueckpointing) X(cyeckpointing) X(chdckpointing) X(chrckpointing) \
  X(chsckpointing) X(chwckpointing) X(chedkpointing) X(chefkpointing) X(chevkpointing) X(chexkpointing) \
  X(checipointing) X(checjpointing) X(checlpointing) X(checmpointing) X(checopointing) X(checklointing) \
  X(checkoointing) X(checkpiinting) X(checkpkinting) X(checkplinting) X(checkppinting) X(checkpojnting) \
  X(checkpoknting) X(checkpoonting) X(checkpounting) X(checkpoibting) X(checkpoihting) X(checkpoijting) \
  X(checkpoimting) X(checkpoinfing) X(checkpoinging) X(checkpoinring) X(checkpoinying) X(checkpointjng) \
  X(checkpointkng) X(checkpointong) X(checkpointung) X(checkpointibg) X(checkpointihg) X(checkpointijg) \
  X(checkpointimg) X(checkpointinb) X(checkpointinf) X(checkpointinh) X(checkpointint) X(checkpointinv) \
  X(checkpointiny) X(activation_checkpointing) X(activation_checkpoint) X(checkpoint) X(checkpoints) \
  X(gradient_checkpointing) X(recompute) X(Checkpointing)
#define MONOMORPH_NEAR_MISSES_OPTIMIZER(X) \
  X(ptimizer) X(otimizer) X(opimizer) X(optmizer) X(optiizer) X(optimzer) X(optimier) X(optimizr) X(optimize) \
  X(potimizer) X(otpimizer) X(opitmizer) X(optmiizer) X(optiimzer) X(optimzier) X(optimiezr) X(optimizre) \
  X(ooptimizer) X(opptimizer) X(opttimizer) X(optiimizer) X(optimmizer) X(optimiizer) X(optimizzer) X(optimizeer) \
  X(optimizerr) X(iptimizer) X(kptimizer) X(lptimizer) X(pptimizer) X(oltimizer) X(ootimizer) X(opfimizer) \
  X(opgimizer) X(oprimizer) X(opyimizer) X(optjmizer) X(optkmizer) X(optomizer) X(optumizer) X(optijizer) \
  X(optikizer) X(optinizer) X(optimjzer) X(optimkzer) X(optimozer) X(optimuzer) X(optimiaer) X(optimiser) \
  X(optimixer) X(optimizdr) X(optimizrr) X(optimizsr) X(optimizwr) X(optimized) X(optimizee) X(optimizef) \
  X(optimizet) X(optimizers) X(optim) X(optimisers) X(Optimizer)
#define MONOMORPH_NEAR_MISSES_OBJECTIVE(X) \
  X(bjective) X(ojective) X(obective) X(objctive) X(objetive) X(objecive) X(objectve) X(objectie) X(objectiv) \
  X(bojective) X(ojbective) X(obejctive) X(objcetive) X(objetcive) X(objecitve) X(objectvie) X(objectiev) \
  X(oobjective) X(obbjective) X(objjective) X(objeective) X(objecctive) X(objecttive) X(objectiive) X(objectivve) \
  X(objectivee) X(ibjective) X(kbjective) X(lbjective) X(pbjective) X(ogjective) X(ohjective) X(onjective) \
  X(ovjective) X(obhective) X(obiective) X(obkective) X(obmective) X(obnective) X(obuective) X(objdctive) \
  X(objrctive) X(objsctive) X(objwctive) X(objedtive) X(objeftive) X(objevtive) X(objextive) X(objecfive) \
  X(objecgive) X(objecrive) X(objecyive) X(objectjve) X(objectkve) X(objectove) X(objectuve) X(objectibe) \
  X(objectice) X(objectife) X(objectige) X(objectivd) X(objectivr) X(objectivs) X(objectivw) X(objectives) X(loss) \
  X(loss_function) X(Objective)
#define MONOMORPH_NEAR_MISSES_ATTENTION(X) \
  X(ttention) X(atention) X(attntion) X(attetion) X(attenion) X(attenton) X(attentin) X(attentio) X(tatention) \
  X(atetntion) X(attnetion) X(attetnion) X(atteniton) X(attentoin) X(attentino) X(aattention) X(atttention) \
  X(atteention) X(attenntion) X(attenttion) X(attentiion) X(attentioon) X(attentionn) X(qttention) X(sttention) \
  X(wttention) X(zttention) X(aftention) X(agtention) X(artention) X(aytention) X(atfention) X(atgention) \
  X(atrention) X(atyention) X(attdntion) X(attrntion) X(attsntion) X(attwntion) X(attebtion) X(attehtion) \
  X(attejtion) X(attemtion) X(attenfion) X(attengion) X(attenrion) X(attenyion) X(attentjon) X(attentkon) \
  X(attentoon) X(attentuon) X(attentiin) X(attentikn) X(attentiln) X(attentipn) X(attentiob) X(attentioh) \
  X(attentioj) X(attentiom) X(attentions) X(attn) X(attention_mask) X(attention_policy) X(document_mask) X(masking) \
  X(Attention)
#define MONOMORPH_NEAR_MISSES_MESH(X) \
  X(esh) X(msh) X(meh) X(mes) X(emsh) X(mseh) X(mehs) X(mmesh) X(meesh) X(messh) X(meshh) X(jesh) X(kesh) X(nesh) \
  X(mdsh) X(mrsh) X(mssh) X(mwsh) X(meah) X(medh) X(meeh) X(mewh) X(mexh) X(mezh) X(mesb) X(mesg) X(mesj) X(mesn) \
  X(mesu) X(mesy) X(meshes) X(mesh_spec) X(meshspec) X(device_mesh) X(Mesh)
#define MONOMORPH_NEAR_MISSES_LAYERS(X) \
  X(ayers) X(lyers) X(laers) X(layrs) X(layes) X(layer) X(alyers) X(lyaers) X(laeyrs) X(layres) X(layesr) X(llayers) \
  X(laayers) X(layyers) X(layeers) X(layerrs) X(layerss) X(kayers) X(oayers) X(payers) X(lqyers) X(lsyers) X(lwyers) \
  X(lzyers) X(lagers) X(lahers) X(laters) X(lauers) X(laydrs) X(layrrs) X(laysrs) X(laywrs) X(layeds) X(layees) \
  X(layefs) X(layets) X(layera) X(layerd) X(layere) X(layerw) X(layerx) X(layerz) X(blocks) X(block) X(stack) \
  X(Layers)
#define MONOMORPH_NEAR_MISSES_BUDGET(X) \
  X(udget) X(bdget) X(buget) X(budet) X(budgt) X(budge) X(ubdget) X(bduget) X(bugdet) X(budegt) X(budgte) X(bbudget) \
  X(buudget) X(buddget) X(budgget) X(budgeet) X(budgett) X(gudget) X(hudget) X(nudget) X(vudget) X(bhdget) X(bidget) \
  X(bjdget) X(bydget) X(bucget) X(bueget) X(bufget) X(burget) X(busget) X(buxget) X(budbet) X(budfet) X(budhet) \
  X(budtet) X(budvet) X(budyet) X(budgdt) X(budgrt) X(budgst) X(budgwt) X(budgef) X(budgeg) X(budger) X(budgey) \
  X(budgets) X(memory_budget) X(Budget)
#define MONOMORPH_NEAR_MISSES_EXPECT(X) \
  X(xpect) X(epect) X(exect) X(expct) X(expet) X(expec) X(xepect) X(epxect) X(exepct) X(expcet) X(expetc) X(eexpect) \
  X(exxpect) X(exppect) X(expeect) X(expecct) X(expectt) X(dxpect) X(rxpect) X(sxpect) X(wxpect) X(ecpect) X(edpect) \
  X(espect) X(ezpect) X(exlect) X(exoect) X(expdct) X(exprct) X(expsct) X(expwct) X(expedt) X(expeft) X(expevt) \
  X(expext) X(expecf) X(expecg) X(expecr) X(expecy) X(expected) X(expects) X(expectation) X(expectations) X(Expect)

#define MONOMORPH_NEAR_MISSES(X) \
  MONOMORPH_NEAR_MISSES_MODEL(X) MONOMORPH_NEAR_MISSES_SHARDING(X) MONOMORPH_NEAR_MISSES_PRECISION(X) \
  MONOMORPH_NEAR_MISSES_CHECKPOINTING(X) MONOMORPH_NEAR_MISSES_OPTIMIZER(X) MONOMORPH_NEAR_MISSES_OBJECTIVE(X) \
  MONOMORPH_NEAR_MISSES_ATTENTION(X) MONOMORPH_NEAR_MISSES_MESH(X) MONOMORPH_NEAR_MISSES_LAYERS(X) \
  MONOMORPH_NEAR_MISSES_BUDGET(X) MONOMORPH_NEAR_MISSES_EXPECT(X)
// clang-format on
