#pragma once

/// Names that are no member of a recipe but one slip away from one: a letter left out, put in, replaced by another, or
/// exchanged with its neighbour. C++20 cannot list a type's members, so a rule looks for these (rule/member_rules.hpp).
/// Written by tools/rules/make_near_miss_names.py. X(name) is expanded for each.

// clang-format off
#define MONOMORPH_NEAR_MISSES_MODEL(X) \
  X(odel) X(mdel) X(moel) X(modl) X(mode) X(omdel) X(mdoel) X(moedl) X(modle) X(aodel) X(bodel) X(codel) X(dodel) \
  X(eodel) X(fodel) X(godel) X(hodel) X(iodel) X(jodel) X(kodel) X(lodel) X(nodel) X(oodel) X(podel) X(qodel) X(rodel) \
  X(sodel) X(todel) X(uodel) X(vodel) X(wodel) X(xodel) X(yodel) X(zodel) X(madel) X(mbdel) X(mcdel) X(mddel) X(medel) \
  X(mfdel) X(mgdel) X(mhdel) X(midel) X(mjdel) X(mkdel) X(mldel) X(mmdel) X(mndel) X(mpdel) X(mqdel) X(mrdel) X(msdel) \
  X(mtdel) X(mudel) X(mvdel) X(mwdel) X(mxdel) X(mydel) X(mzdel) X(moael) X(mobel) X(mocel) X(moeel) X(mofel) X(mogel) \
  X(mohel) X(moiel) X(mojel) X(mokel) X(molel) X(momel) X(monel) X(mooel) X(mopel) X(moqel) X(morel) X(mosel) X(motel) \
  X(mouel) X(movel) X(mowel) X(moxel) X(moyel) X(mozel) X(modal) X(modbl) X(modcl) X(moddl) X(modfl) X(modgl) X(modhl) \
  X(modil) X(modjl) X(modkl) X(modll) X(modml) X(modnl) X(modol) X(modpl) X(modql) X(modrl) X(modsl) X(modtl) X(modul) \
  X(modvl) X(modwl) X(modxl) X(modyl) X(modzl) X(modea) X(modeb) X(modec) X(moded) X(modee) X(modef) X(modeg) X(modeh) \
  X(modei) X(modej) X(modek) X(modem) X(moden) X(modeo) X(modep) X(modeq) X(moder) X(modes) X(modet) X(modeu) X(modev) \
  X(modew) X(modex) X(modey) X(modez) X(amodel) X(bmodel) X(cmodel) X(dmodel) X(emodel) X(fmodel) X(gmodel) X(hmodel) \
  X(imodel) X(jmodel) X(kmodel) X(lmodel) X(mmodel) X(nmodel) X(omodel) X(pmodel) X(qmodel) X(rmodel) X(smodel) \
  X(tmodel) X(umodel) X(vmodel) X(wmodel) X(xmodel) X(ymodel) X(zmodel) X(maodel) X(mbodel) X(mcodel) X(mdodel) \
  X(meodel) X(mfodel) X(mgodel) X(mhodel) X(miodel) X(mjodel) X(mkodel) X(mlodel) X(mnodel) X(moodel) X(mpodel) \
  X(mqodel) X(mrodel) X(msodel) X(mtodel) X(muodel) X(mvodel) X(mwodel) X(mxodel) X(myodel) X(mzodel) X(moadel) \
  X(mobdel) X(mocdel) X(moddel) X(moedel) X(mofdel) X(mogdel) X(mohdel) X(moidel) X(mojdel) X(mokdel) X(moldel) \
  X(momdel) X(mondel) X(mopdel) X(moqdel) X(mordel) X(mosdel) X(motdel) X(moudel) X(movdel) X(mowdel) X(moxdel) \
  X(moydel) X(mozdel) X(modael) X(modbel) X(modcel) X(modeel) X(modfel) X(modgel) X(modhel) X(modiel) X(modjel) \
  X(modkel) X(modlel) X(modmel) X(modnel) X(modoel) X(modpel) X(modqel) X(modrel) X(modsel) X(modtel) X(moduel) \
  X(modvel) X(modwel) X(modxel) X(modyel) X(modzel) X(modeal) X(modebl) X(modecl) X(modedl) X(modefl) X(modegl) \
  X(modehl) X(modeil) X(modejl) X(modekl) X(modell) X(modeml) X(modenl) X(modeol) X(modepl) X(modeql) X(moderl) \
  X(modesl) X(modetl) X(modeul) X(modevl) X(modewl) X(modexl) X(modeyl) X(modezl) X(modela) X(modelb) X(modelc) \
  X(modeld) X(modele) X(modelf) X(modelg) X(modelh) X(modeli) X(modelj) X(modelk) X(modelm) X(modeln) X(modelo) \
  X(modelp) X(modelq) X(modelr) X(models) X(modelt) X(modelu) X(modelv) X(modelw) X(modelx) X(modely) X(modelz)
#define MONOMORPH_NEAR_MISSES_SHARDING(X) \
  X(harding) X(sarding) X(shrding) X(shading) X(sharing) X(shardng) X(shardig) X(shardin) X(hsarding) X(sahrding) \
  X(shrading) X(shadring) X(sharidng) X(shardnig) X(shardign) X(aharding) X(bharding) X(charding) X(dharding) \
  X(eharding) X(fharding) X(gharding) X(hharding) X(iharding) X(jharding) X(kharding) X(lharding) X(mharding) \
  X(nharding) X(oharding) X(pharding) X(qharding) X(rharding) X(tharding) X(uharding) X(vharding) X(wharding) \
  X(xharding) X(yharding) X(zharding) X(saarding) X(sbarding) X(scarding) X(sdarding) X(searding) X(sfarding) \
  X(sgarding) X(siarding) X(sjarding) X(skarding) X(slarding) X(smarding) X(snarding) X(soarding) X(sparding) \
  X(sqarding) X(srarding) X(ssarding) X(starding) X(suarding) X(svarding) X(swarding) X(sxarding) X(syarding) \
  X(szarding) X(shbrding) X(shcrding) X(shdrding) X(sherding) X(shfrding) X(shgrding) X(shhrding) X(shirding) \
  X(shjrding) X(shkrding) X(shlrding) X(shmrding) X(shnrding) X(shording) X(shprding) X(shqrding) X(shrrding) \
  X(shsrding) X(shtrding) X(shurding) X(shvrding) X(shwrding) X(shxrding) X(shyrding) X(shzrding) X(shaading) \
  X(shabding) X(shacding) X(shadding) X(shaeding) X(shafding) X(shagding) X(shahding) X(shaiding) X(shajding) \
  X(shakding) X(shalding) X(shamding) X(shanding) X(shaoding) X(shapding) X(shaqding) X(shasding) X(shatding) \
  X(shauding) X(shavding) X(shawding) X(shaxding) X(shayding) X(shazding) X(sharaing) X(sharbing) X(sharcing) \
  X(shareing) X(sharfing) X(sharging) X(sharhing) X(shariing) X(sharjing) X(sharking) X(sharling) X(sharming) \
  X(sharning) X(sharoing) X(sharping) X(sharqing) X(sharring) X(sharsing) X(sharting) X(sharuing) X(sharving) \
  X(sharwing) X(sharxing) X(sharying) X(sharzing) X(shardang) X(shardbng) X(shardcng) X(sharddng) X(shardeng) \
  X(shardfng) X(shardgng) X(shardhng) X(shardjng) X(shardkng) X(shardlng) X(shardmng) X(shardnng) X(shardong) \
  X(shardpng) X(shardqng) X(shardrng) X(shardsng) X(shardtng) X(shardung) X(shardvng) X(shardwng) X(shardxng) \
  X(shardyng) X(shardzng) X(shardiag) X(shardibg) X(shardicg) X(shardidg) X(shardieg) X(shardifg) X(shardigg) \
  X(shardihg) X(shardiig) X(shardijg) X(shardikg) X(shardilg) X(shardimg) X(shardiog) X(shardipg) X(shardiqg) \
  X(shardirg) X(shardisg) X(sharditg) X(shardiug) X(shardivg) X(shardiwg) X(shardixg) X(shardiyg) X(shardizg) \
  X(shardina) X(shardinb) X(shardinc) X(shardind) X(shardine) X(shardinf) X(shardinh) X(shardini) X(shardinj) \
  X(shardink) X(shardinl) X(shardinm) X(shardinn) X(shardino) X(shardinp) X(shardinq) X(shardinr) X(shardins) \
  X(shardint) X(shardinu) X(shardinv) X(shardinw) X(shardinx) X(shardiny) X(shardinz) X(asharding) X(bsharding) \
  X(csharding) X(dsharding) X(esharding) X(fsharding) X(gsharding) X(hsharding) X(isharding) X(jsharding) X(ksharding) \
  X(lsharding) X(msharding) X(nsharding) X(osharding) X(psharding) X(qsharding) X(rsharding) X(ssharding) X(tsharding) \
  X(usharding) X(vsharding) X(wsharding) X(xsharding) X(ysharding) X(zsharding) X(saharding) X(sbharding) X(scharding) \
  X(sdharding) X(seharding) X(sfharding) X(sgharding) X(shharding) X(siharding) X(sjharding) X(skharding) X(slharding) \
  X(smharding) X(snharding) X(soharding) X(spharding) X(sqharding) X(srharding) X(stharding) X(suharding) X(svharding) \
  X(swharding) X(sxharding) X(syharding) X(szharding) X(shaarding) X(shbarding) X(shcarding) X(shdarding) X(shearding) \
  X(shfarding) X(shgarding) X(shiarding) X(shjarding) X(shkarding) X(shlarding) X(shmarding) X(shnarding) X(shoarding) \
  X(shparding) X(shqarding) X(shrarding) X(shsarding) X(shtarding) X(shuarding) X(shvarding) X(shwarding) X(shxarding) \
  X(shyarding) X(shzarding) X(shabrding) X(shacrding) X(shadrding) X(shaerding) X(shafrding) X(shagrding) X(shahrding) \
  X(shairding) X(shajrding) X(shakrding) X(shalrding) X(shamrding) X(shanrding) X(shaording) X(shaprding) X(shaqrding) \
  X(sharrding) X(shasrding) X(shatrding) X(shaurding) X(shavrding) X(shawrding) X(shaxrding) X(shayrding) X(shazrding) \
  X(sharading) X(sharbding) X(sharcding) X(shardding) X(shareding) X(sharfding) X(shargding) X(sharhding) X(shariding) \
  X(sharjding) X(sharkding) X(sharlding) X(sharmding) X(sharnding) X(sharoding) X(sharpding) X(sharqding) X(sharsding) \
  X(shartding) X(sharuding) X(sharvding) X(sharwding) X(sharxding) X(sharyding) X(sharzding) X(shardaing) X(shardbing) \
  X(shardcing) X(shardeing) X(shardfing) X(shardging) X(shardhing) X(shardiing) X(shardjing) X(shardking) X(shardling) \
  X(shardming) X(shardning) X(shardoing) X(shardping) X(shardqing) X(shardring) X(shardsing) X(shardting) X(sharduing) \
  X(shardving) X(shardwing) X(shardxing) X(shardying) X(shardzing) X(shardiang) X(shardibng) X(shardicng) X(shardidng) \
  X(shardieng) X(shardifng) X(shardigng) X(shardihng) X(shardijng) X(shardikng) X(shardilng) X(shardimng) X(shardinng) \
  X(shardiong) X(shardipng) X(shardiqng) X(shardirng) X(shardisng) X(sharditng) X(shardiung) X(shardivng) X(shardiwng) \
  X(shardixng) X(shardiyng) X(shardizng) X(shardinag) X(shardinbg) X(shardincg) X(shardindg) X(shardineg) X(shardinfg) \
  X(shardingg) X(shardinhg) X(shardinig) X(shardinjg) X(shardinkg) X(shardinlg) X(shardinmg) X(shardinog) X(shardinpg) \
  X(shardinqg) X(shardinrg) X(shardinsg) X(shardintg) X(shardinug) X(shardinvg) X(shardinwg) X(shardinxg) X(shardinyg) \
  X(shardinzg) X(shardinga) X(shardingb) X(shardingc) X(shardingd) X(shardinge) X(shardingf) X(shardingh) X(shardingi) \
  X(shardingj) X(shardingk) X(shardingl) X(shardingm) X(shardingn) X(shardingo) X(shardingp) X(shardingq) X(shardingr) \
  X(shardings) X(shardingt) X(shardingu) X(shardingv) X(shardingw) X(shardingx) X(shardingy) X(shardingz)
#define MONOMORPH_NEAR_MISSES_PRECISION(X) \
  X(recision) X(pecision) X(prcision) X(preision) X(precsion) X(preciion) X(precison) X(precisin) X(precisio) \
  X(rpecision) X(percision) X(prceision) X(preicsion) X(precsiion) X(preciison) X(precisoin) X(precisino) X(arecision) \
  X(brecision) X(crecision) X(drecision) X(erecision) X(frecision) X(grecision) X(hrecision) X(irecision) X(jrecision) \
  X(krecision) X(lrecision) X(mrecision) X(nrecision) X(orecision) X(qrecision) X(rrecision) X(srecision) X(trecision) \
  X(urecision) X(vrecision) X(wrecision) X(xrecision) X(yrecision) X(zrecision) X(paecision) X(pbecision) X(pcecision) \
  X(pdecision) X(peecision) X(pfecision) X(pgecision) X(phecision) X(piecision) X(pjecision) X(pkecision) X(plecision) \
  X(pmecision) X(pnecision) X(poecision) X(ppecision) X(pqecision) X(psecision) X(ptecision) X(puecision) X(pvecision) \
  X(pwecision) X(pxecision) X(pyecision) X(pzecision) X(pracision) X(prbcision) X(prccision) X(prdcision) X(prfcision) \
  X(prgcision) X(prhcision) X(pricision) X(prjcision) X(prkcision) X(prlcision) X(prmcision) X(prncision) X(procision) \
  X(prpcision) X(prqcision) X(prrcision) X(prscision) X(prtcision) X(prucision) X(prvcision) X(prwcision) X(prxcision) \
  X(prycision) X(przcision) X(preaision) X(prebision) X(predision) X(preeision) X(prefision) X(pregision) X(prehision) \
  X(preiision) X(prejision) X(prekision) X(prelision) X(premision) X(prenision) X(preoision) X(prepision) X(preqision) \
  X(prerision) X(presision) X(pretision) X(preuision) X(prevision) X(prewision) X(prexision) X(preyision) X(prezision) \
  X(precasion) X(precbsion) X(preccsion) X(precdsion) X(precesion) X(precfsion) X(precgsion) X(prechsion) X(precjsion) \
  X(precksion) X(preclsion) X(precmsion) X(precnsion) X(precosion) X(precpsion) X(precqsion) X(precrsion) X(precssion) \
  X(prectsion) X(precusion) X(precvsion) X(precwsion) X(precxsion) X(precysion) X(preczsion) X(preciaion) X(precibion) \
  X(precicion) X(precidion) X(precieion) X(precifion) X(precigion) X(precihion) X(preciiion) X(precijion) X(precikion) \
  X(precilion) X(precimion) X(precinion) X(precioion) X(precipion) X(preciqion) X(precirion) X(precition) X(preciuion) \
  X(precivion) X(preciwion) X(precixion) X(preciyion) X(precizion) X(precisaon) X(precisbon) X(preciscon) X(precisdon) \
  X(preciseon) X(precisfon) X(precisgon) X(precishon) X(precisjon) X(preciskon) X(precislon) X(precismon) X(precisnon) \
  X(precisoon) X(precispon) X(precisqon) X(precisron) X(precisson) X(preciston) X(precisuon) X(precisvon) X(preciswon) \
  X(precisxon) X(precisyon) X(preciszon) X(precisian) X(precisibn) X(precisicn) X(precisidn) X(precisien) X(precisifn) \
  X(precisign) X(precisihn) X(precisiin) X(precisijn) X(precisikn) X(precisiln) X(precisimn) X(precisinn) X(precisipn) \
  X(precisiqn) X(precisirn) X(precisisn) X(precisitn) X(precisiun) X(precisivn) X(precisiwn) X(precisixn) X(precisiyn) \
  X(precisizn) X(precisioa) X(precisiob) X(precisioc) X(precisiod) X(precisioe) X(precisiof) X(precisiog) X(precisioh) \
  X(precisioi) X(precisioj) X(precisiok) X(precisiol) X(precisiom) X(precisioo) X(precisiop) X(precisioq) X(precisior) \
  X(precisios) X(precisiot) X(precisiou) X(precisiov) X(precisiow) X(precisiox) X(precisioy) X(precisioz) \
  X(aprecision) X(bprecision) X(cprecision) X(dprecision) X(eprecision) X(fprecision) X(gprecision) X(hprecision) \
  X(iprecision) X(jprecision) X(kprecision) X(lprecision) X(mprecision) X(nprecision) X(oprecision) X(pprecision) \
  X(qprecision) X(rprecision) X(sprecision) X(tprecision) X(uprecision) X(vprecision) X(wprecision) X(xprecision) \
  X(yprecision) X(zprecision) X(parecision) X(pbrecision) X(pcrecision) X(pdrecision) X(perecision) X(pfrecision) \
  X(pgrecision) X(phrecision) X(pirecision) X(pjrecision) X(pkrecision) X(plrecision) X(pmrecision) X(pnrecision) \
  X(porecision) X(pqrecision) X(prrecision) X(psrecision) X(ptrecision) X(purecision) X(pvrecision) X(pwrecision) \
  X(pxrecision) X(pyrecision) X(pzrecision) X(praecision) X(prbecision) X(prcecision) X(prdecision) X(preecision) \
  X(prfecision) X(prgecision) X(prhecision) X(priecision) X(prjecision) X(prkecision) X(prlecision) X(prmecision) \
  X(prnecision) X(proecision) X(prpecision) X(prqecision) X(prsecision) X(prtecision) X(pruecision) X(prvecision) \
  X(prwecision) X(prxecision) X(pryecision) X(przecision) X(preacision) X(prebcision) X(preccision) X(predcision) \
  X(prefcision) X(pregcision) X(prehcision) X(preicision) X(prejcision) X(prekcision) X(prelcision) X(premcision) \
  X(prencision) X(preocision) X(prepcision) X(preqcision) X(prercision) X(prescision) X(pretcision) X(preucision) \
  X(prevcision) X(prewcision) X(prexcision) X(preycision) X(prezcision) X(precaision) X(precbision) X(precdision) \
  X(preceision) X(precfision) X(precgision) X(prechision) X(preciision) X(precjision) X(preckision) X(preclision) \
  X(precmision) X(precnision) X(precoision) X(precpision) X(precqision) X(precrision) X(precsision) X(prectision) \
  X(precuision) X(precvision) X(precwision) X(precxision) X(precyision) X(preczision) X(preciasion) X(precibsion) \
  X(precicsion) X(precidsion) X(preciesion) X(precifsion) X(precigsion) X(precihsion) X(precijsion) X(preciksion) \
  X(precilsion) X(precimsion) X(precinsion) X(preciosion) X(precipsion) X(preciqsion) X(precirsion) X(precission) \
  X(precitsion) X(preciusion) X(precivsion) X(preciwsion) X(precixsion) X(preciysion) X(precizsion) X(precisaion) \
  X(precisbion) X(preciscion) X(precisdion) X(preciseion) X(precisfion) X(precisgion) X(precishion) X(precisiion) \
  X(precisjion) X(preciskion) X(precislion) X(precismion) X(precisnion) X(precisoion) X(precispion) X(precisqion) \
  X(precisrion) X(precistion) X(precisuion) X(precisvion) X(preciswion) X(precisxion) X(precisyion) X(preciszion) \
  X(precisiaon) X(precisibon) X(precisicon) X(precisidon) X(precisieon) X(precisifon) X(precisigon) X(precisihon) \
  X(precisijon) X(precisikon) X(precisilon) X(precisimon) X(precisinon) X(precisioon) X(precisipon) X(precisiqon) \
  X(precisiron) X(precisison) X(precisiton) X(precisiuon) X(precisivon) X(precisiwon) X(precisixon) X(precisiyon) \
  X(precisizon) X(precisioan) X(precisiobn) X(precisiocn) X(precisiodn) X(precisioen) X(precisiofn) X(precisiogn) \
  X(precisiohn) X(precisioin) X(precisiojn) X(precisiokn) X(precisioln) X(precisiomn) X(precisionn) X(precisiopn) \
  X(precisioqn) X(precisiorn) X(precisiosn) X(precisiotn) X(precisioun) X(precisiovn) X(precisiown) X(precisioxn) \
  X(precisioyn) X(precisiozn) X(precisiona) X(precisionb) X(precisionc) X(precisiond) X(precisione) X(precisionf) \
  X(precisiong) X(precisionh) X(precisioni) X(precisionj) X(precisionk) X(precisionl) X(precisionm) X(precisiono) \
  X(precisionp) X(precisionq) X(precisionr) X(precisions) X(precisiont) X(precisionu) X(precisionv) X(precisionw) \
  X(precisionx) X(precisiony) X(precisionz)
#define MONOMORPH_NEAR_MISSES_CHECKPOINTING(X) \
  X(heckpointing) X(ceckpointing) X(chckpointing) X(chekpointing) X(checpointing) X(checkointing) X(checkpinting) \
  X(checkponting) X(checkpoiting) X(checkpoining) X(checkpointng) X(checkpointig) X(checkpointin) X(hceckpointing) \
  X(cehckpointing) X(chcekpointing) X(chekcpointing) X(checpkointing) X(checkopinting) X(checkpionting) \
  X(checkponiting) X(checkpoitning) X(checkpoinitng) X(checkpointnig) X(checkpointign) X(aheckpointing) \
  X(bheckpointing) X(dheckpointing) X(eheckpointing) X(fheckpointing) X(gheckpointing) X(hheckpointing) \
  X(iheckpointing) X(jheckpointing) X(kheckpointing) X(lheckpointing) X(mheckpointing) X(nheckpointing) \
  X(oheckpointing) X(pheckpointing) X(qheckpointing) X(rheckpointing) X(sheckpointing) X(theckpointing) \
  X(uheckpointing) X(vheckpointing) X(wheckpointing) X(xheckpointing) X(yheckpointing) X(zheckpointing) \
  X(caeckpointing) X(cbeckpointing) X(cceckpointing) X(cdeckpointing) X(ceeckpointing) X(cfeckpointing) \
  X(cgeckpointing) X(cieckpointing) X(cjeckpointing) X(ckeckpointing) X(cleckpointing) X(cmeckpointing) \
  X(cneckpointing) X(coeckpointing) X(cpeckpointing) X(cqeckpointing) X(creckpointing) X(cseckpointing) \
  X(cteckpointing) X(cueckpointing) X(cveckpointing) X(cweckpointing) X(cxeckpointing) X(cyeckpointing) \
  X(czeckpointing) X(chackpointing) X(chbckpointing) X(chcckpointing) X(chdckpointing) X(chfckpointing) \
  X(chgckpointing) X(chhckpointing) X(chickpointing) X(chjckpointing) X(chkckpointing) X(chlckpointing) \
  X(chmckpointing) X(chnckpointing) X(chockpointing) X(chpckpointing) X(chqckpointing) X(chrckpointing) \
  X(chsckpointing) X(chtckpointing) X(chuckpointing) X(chvckpointing) X(chwckpointing) X(chxckpointing) \
  X(chyckpointing) X(chzckpointing) X(cheakpointing) X(chebkpointing) X(chedkpointing) X(cheekpointing) \
  X(chefkpointing) X(chegkpointing) X(chehkpointing) X(cheikpointing) X(chejkpointing) X(chekkpointing) \
  X(chelkpointing) X(chemkpointing) X(chenkpointing) X(cheokpointing) X(chepkpointing) X(cheqkpointing) \
  X(cherkpointing) X(cheskpointing) X(chetkpointing) X(cheukpointing) X(chevkpointing) X(chewkpointing) \
  X(chexkpointing) X(cheykpointing) X(chezkpointing) X(checapointing) X(checbpointing) X(checcpointing) \
  X(checdpointing) X(checepointing) X(checfpointing) X(checgpointing) X(chechpointing) X(checipointing) \
  X(checjpointing) X(checlpointing) X(checmpointing) X(checnpointing) X(checopointing) X(checppointing) \
  X(checqpointing) X(checrpointing) X(checspointing) X(chectpointing) X(checupointing) X(checvpointing) \
  X(checwpointing) X(checxpointing) X(checypointing) X(checzpointing) X(checkaointing) X(checkbointing) \
  X(checkcointing) X(checkdointing) X(checkeointing) X(checkfointing) X(checkgointing) X(checkhointing) \
  X(checkiointing) X(checkjointing) X(checkkointing) X(checklointing) X(checkmointing) X(checknointing) \
  X(checkoointing) X(checkqointing) X(checkrointing) X(checksointing) X(checktointing) X(checkuointing) \
  X(checkvointing) X(checkwointing) X(checkxointing) X(checkyointing) X(checkzointing) X(checkpainting) \
  X(checkpbinting) X(checkpcinting) X(checkpdinting) X(checkpeinting) X(checkpfinting) X(checkpginting) \
  X(checkphinting) X(checkpiinting) X(checkpjinting) X(checkpkinting) X(checkplinting) X(checkpminting) \
  X(checkpninting) X(checkppinting) X(checkpqinting) X(checkprinting) X(checkpsinting) X(checkptinting) \
  X(checkpuinting) X(checkpvinting) X(checkpwinting) X(checkpxinting) X(checkpyinting) X(checkpzinting) \
  X(checkpoanting) X(checkpobnting) X(checkpocnting) X(checkpodnting) X(checkpoenting) X(checkpofnting) \
  X(checkpognting) X(checkpohnting) X(checkpojnting) X(checkpoknting) X(checkpolnting) X(checkpomnting) \
  X(checkponnting) X(checkpoonting) X(checkpopnting) X(checkpoqnting) X(checkpornting) X(checkposnting) \
  X(checkpotnting) X(checkpounting) X(checkpovnting) X(checkpownting) X(checkpoxnting) X(checkpoynting) \
  X(checkpoznting) X(checkpoiating) X(checkpoibting) X(checkpoicting) X(checkpoidting) X(checkpoieting) \
  X(checkpoifting) X(checkpoigting) X(checkpoihting) X(checkpoiiting) X(checkpoijting) X(checkpoikting) \
  X(checkpoilting) X(checkpoimting) X(checkpoioting) X(checkpoipting) X(checkpoiqting) X(checkpoirting) \
  X(checkpoisting) X(checkpoitting) X(checkpoiuting) X(checkpoivting) X(checkpoiwting) X(checkpoixting) \
  X(checkpoiyting) X(checkpoizting) X(checkpoinaing) X(checkpoinbing) X(checkpoincing) X(checkpoinding) \
  X(checkpoineing) X(checkpoinfing) X(checkpoinging) X(checkpoinhing) X(checkpoiniing) X(checkpoinjing) \
  X(checkpoinking) X(checkpoinling) X(checkpoinming) X(checkpoinning) X(checkpoinoing) X(checkpoinping) \
  X(checkpoinqing) X(checkpoinring) X(checkpoinsing) X(checkpoinuing) X(checkpoinving) X(checkpoinwing) \
  X(checkpoinxing) X(checkpoinying) X(checkpoinzing) X(checkpointang) X(checkpointbng) X(checkpointcng) \
  X(checkpointdng) X(checkpointeng) X(checkpointfng) X(checkpointgng) X(checkpointhng) X(checkpointjng) \
  X(checkpointkng) X(checkpointlng) X(checkpointmng) X(checkpointnng) X(checkpointong) X(checkpointpng) \
  X(checkpointqng) X(checkpointrng) X(checkpointsng) X(checkpointtng) X(checkpointung) X(checkpointvng) \
  X(checkpointwng) X(checkpointxng) X(checkpointyng) X(checkpointzng) X(checkpointiag) X(checkpointibg) \
  X(checkpointicg) X(checkpointidg) X(checkpointieg) X(checkpointifg) X(checkpointigg) X(checkpointihg) \
  X(checkpointiig) X(checkpointijg) X(checkpointikg) X(checkpointilg) X(checkpointimg) X(checkpointiog) \
  X(checkpointipg) X(checkpointiqg) X(checkpointirg) X(checkpointisg) X(checkpointitg) X(checkpointiug) \
  X(checkpointivg) X(checkpointiwg) X(checkpointixg) X(checkpointiyg) X(checkpointizg) X(checkpointina) \
  X(checkpointinb) X(checkpointinc) X(checkpointind) X(checkpointine) X(checkpointinf) X(checkpointinh) \
  X(checkpointini) X(checkpointinj) X(checkpointink) X(checkpointinl) X(checkpointinm) X(checkpointinn) \
  X(checkpointino) X(checkpointinp) X(checkpointinq) X(checkpointinr) X(checkpointins) X(checkpointint) \
  X(checkpointinu) X(checkpointinv) X(checkpointinw) X(checkpointinx) X(checkpointiny) X(checkpointinz) \
  X(acheckpointing) X(bcheckpointing) X(ccheckpointing) X(dcheckpointing) X(echeckpointing) X(fcheckpointing) \
  X(gcheckpointing) X(hcheckpointing) X(icheckpointing) X(jcheckpointing) X(kcheckpointing) X(lcheckpointing) \
  X(mcheckpointing) X(ncheckpointing) X(ocheckpointing) X(pcheckpointing) X(qcheckpointing) X(rcheckpointing) \
  X(scheckpointing) X(tcheckpointing) X(ucheckpointing) X(vcheckpointing) X(wcheckpointing) X(xcheckpointing) \
  X(ycheckpointing) X(zcheckpointing) X(caheckpointing) X(cbheckpointing) X(cdheckpointing) X(ceheckpointing) \
  X(cfheckpointing) X(cgheckpointing) X(chheckpointing) X(ciheckpointing) X(cjheckpointing) X(ckheckpointing) \
  X(clheckpointing) X(cmheckpointing) X(cnheckpointing) X(coheckpointing) X(cpheckpointing) X(cqheckpointing) \
  X(crheckpointing) X(csheckpointing) X(ctheckpointing) X(cuheckpointing) X(cvheckpointing) X(cwheckpointing) \
  X(cxheckpointing) X(cyheckpointing) X(czheckpointing) X(chaeckpointing) X(chbeckpointing) X(chceckpointing) \
  X(chdeckpointing) X(cheeckpointing) X(chfeckpointing) X(chgeckpointing) X(chieckpointing) X(chjeckpointing) \
  X(chkeckpointing) X(chleckpointing) X(chmeckpointing) X(chneckpointing) X(choeckpointing) X(chpeckpointing) \
  X(chqeckpointing) X(chreckpointing) X(chseckpointing) X(chteckpointing) X(chueckpointing) X(chveckpointing) \
  X(chweckpointing) X(chxeckpointing) X(chyeckpointing) X(chzeckpointing) X(cheackpointing) X(chebckpointing) \
  X(checckpointing) X(chedckpointing) X(chefckpointing) X(chegckpointing) X(chehckpointing) X(cheickpointing) \
  X(chejckpointing) X(chekckpointing) X(chelckpointing) X(chemckpointing) X(chenckpointing) X(cheockpointing) \
  X(chepckpointing) X(cheqckpointing) X(cherckpointing) X(chesckpointing) X(chetckpointing) X(cheuckpointing) \
  X(chevckpointing) X(chewckpointing) X(chexckpointing) X(cheyckpointing) X(chezckpointing) X(checakpointing) \
  X(checbkpointing) X(checdkpointing) X(checekpointing) X(checfkpointing) X(checgkpointing) X(chechkpointing) \
  X(checikpointing) X(checjkpointing) X(checkkpointing) X(checlkpointing) X(checmkpointing) X(checnkpointing) \
  X(checokpointing) X(checpkpointing) X(checqkpointing) X(checrkpointing) X(checskpointing) X(chectkpointing) \
  X(checukpointing) X(checvkpointing) X(checwkpointing) X(checxkpointing) X(checykpointing) X(checzkpointing) \
  X(checkapointing) X(checkbpointing) X(checkcpointing) X(checkdpointing) X(checkepointing) X(checkfpointing) \
  X(checkgpointing) X(checkhpointing) X(checkipointing) X(checkjpointing) X(checklpointing) X(checkmpointing) \
  X(checknpointing) X(checkopointing) X(checkppointing) X(checkqpointing) X(checkrpointing) X(checkspointing) \
  X(checktpointing) X(checkupointing) X(checkvpointing) X(checkwpointing) X(checkxpointing) X(checkypointing) \
  X(checkzpointing) X(checkpaointing) X(checkpbointing) X(checkpcointing) X(checkpdointing) X(checkpeointing) \
  X(checkpfointing) X(checkpgointing) X(checkphointing) X(checkpiointing) X(checkpjointing) X(checkpkointing) \
  X(checkplointing) X(checkpmointing) X(checkpnointing) X(checkpoointing) X(checkpqointing) X(checkprointing) \
  X(checkpsointing) X(checkptointing) X(checkpuointing) X(checkpvointing) X(checkpwointing) X(checkpxointing) \
  X(checkpyointing) X(checkpzointing) X(checkpoainting) X(checkpobinting) X(checkpocinting) X(checkpodinting) \
  X(checkpoeinting) X(checkpofinting) X(checkpoginting) X(checkpohinting) X(checkpoiinting) X(checkpojinting) \
  X(checkpokinting) X(checkpolinting) X(checkpominting) X(checkponinting) X(checkpopinting) X(checkpoqinting) \
  X(checkporinting) X(checkposinting) X(checkpotinting) X(checkpouinting) X(checkpovinting) X(checkpowinting) \
  X(checkpoxinting) X(checkpoyinting) X(checkpozinting) X(checkpoianting) X(checkpoibnting) X(checkpoicnting) \
  X(checkpoidnting) X(checkpoienting) X(checkpoifnting) X(checkpoignting) X(checkpoihnting) X(checkpoijnting) \
  X(checkpoiknting) X(checkpoilnting) X(checkpoimnting) X(checkpoinnting) X(checkpoionting) X(checkpoipnting) \
  X(checkpoiqnting) X(checkpoirnting) X(checkpoisnting) X(checkpoitnting) X(checkpoiunting) X(checkpoivnting) \
  X(checkpoiwnting) X(checkpoixnting) X(checkpoiynting) X(checkpoiznting) X(checkpoinating) X(checkpoinbting) \
  X(checkpoincting) X(checkpoindting) X(checkpoineting) X(checkpoinfting) X(checkpoingting) X(checkpoinhting) \
  X(checkpoiniting) X(checkpoinjting) X(checkpoinkting) X(checkpoinlting) X(checkpoinmting) X(checkpoinoting) \
  X(checkpoinpting) X(checkpoinqting) X(checkpoinrting) X(checkpoinsting) X(checkpointting) X(checkpoinuting) \
  X(checkpoinvting) X(checkpoinwting) X(checkpoinxting) X(checkpoinyting) X(checkpoinzting) X(checkpointaing) \
  X(checkpointbing) X(checkpointcing) X(checkpointding) X(checkpointeing) X(checkpointfing) X(checkpointging) \
  X(checkpointhing) X(checkpointiing) X(checkpointjing) X(checkpointking) X(checkpointling) X(checkpointming) \
  X(checkpointning) X(checkpointoing) X(checkpointping) X(checkpointqing) X(checkpointring) X(checkpointsing) \
  X(checkpointuing) X(checkpointving) X(checkpointwing) X(checkpointxing) X(checkpointying) X(checkpointzing) \
  X(checkpointiang) X(checkpointibng) X(checkpointicng) X(checkpointidng) X(checkpointieng) X(checkpointifng) \
  X(checkpointigng) X(checkpointihng) X(checkpointijng) X(checkpointikng) X(checkpointilng) X(checkpointimng) \
  X(checkpointinng) X(checkpointiong) X(checkpointipng) X(checkpointiqng) X(checkpointirng) X(checkpointisng) \
  X(checkpointitng) X(checkpointiung) X(checkpointivng) X(checkpointiwng) X(checkpointixng) X(checkpointiyng) \
  X(checkpointizng) X(checkpointinag) X(checkpointinbg) X(checkpointincg) X(checkpointindg) X(checkpointineg) \
  X(checkpointinfg) X(checkpointingg) X(checkpointinhg) X(checkpointinig) X(checkpointinjg) X(checkpointinkg) \
  X(checkpointinlg) X(checkpointinmg) X(checkpointinog) X(checkpointinpg) X(checkpointinqg) X(checkpointinrg) \
  X(checkpointinsg) X(checkpointintg) X(checkpointinug) X(checkpointinvg) X(checkpointinwg) X(checkpointinxg) \
  X(checkpointinyg) X(checkpointinzg) X(checkpointinga) X(checkpointingb) X(checkpointingc) X(checkpointingd) \
  X(checkpointinge) X(checkpointingf) X(checkpointingh) X(checkpointingi) X(checkpointingj) X(checkpointingk) \
  X(checkpointingl) X(checkpointingm) X(checkpointingn) X(checkpointingo) X(checkpointingp) X(checkpointingq) \
  X(checkpointingr) X(checkpointings) X(checkpointingt) X(checkpointingu) X(checkpointingv) X(checkpointingw) \
  X(checkpointingx) X(checkpointingy) X(checkpointingz)
#define MONOMORPH_NEAR_MISSES_OPTIMIZER(X) \
  X(ptimizer) X(otimizer) X(opimizer) X(optmizer) X(optiizer) X(optimzer) X(optimier) X(optimizr) X(optimize) \
  X(potimizer) X(otpimizer) X(opitmizer) X(optmiizer) X(optiimzer) X(optimzier) X(optimiezr) X(optimizre) X(aptimizer) \
  X(bptimizer) X(cptimizer) X(dptimizer) X(eptimizer) X(fptimizer) X(gptimizer) X(hptimizer) X(iptimizer) X(jptimizer) \
  X(kptimizer) X(lptimizer) X(mptimizer) X(nptimizer) X(pptimizer) X(qptimizer) X(rptimizer) X(sptimizer) X(tptimizer) \
  X(uptimizer) X(vptimizer) X(wptimizer) X(xptimizer) X(yptimizer) X(zptimizer) X(oatimizer) X(obtimizer) X(octimizer) \
  X(odtimizer) X(oetimizer) X(oftimizer) X(ogtimizer) X(ohtimizer) X(oitimizer) X(ojtimizer) X(oktimizer) X(oltimizer) \
  X(omtimizer) X(ontimizer) X(ootimizer) X(oqtimizer) X(ortimizer) X(ostimizer) X(ottimizer) X(outimizer) X(ovtimizer) \
  X(owtimizer) X(oxtimizer) X(oytimizer) X(oztimizer) X(opaimizer) X(opbimizer) X(opcimizer) X(opdimizer) X(opeimizer) \
  X(opfimizer) X(opgimizer) X(ophimizer) X(opiimizer) X(opjimizer) X(opkimizer) X(oplimizer) X(opmimizer) X(opnimizer) \
  X(opoimizer) X(oppimizer) X(opqimizer) X(oprimizer) X(opsimizer) X(opuimizer) X(opvimizer) X(opwimizer) X(opximizer) \
  X(opyimizer) X(opzimizer) X(optamizer) X(optbmizer) X(optcmizer) X(optdmizer) X(optemizer) X(optfmizer) X(optgmizer) \
  X(opthmizer) X(optjmizer) X(optkmizer) X(optlmizer) X(optmmizer) X(optnmizer) X(optomizer) X(optpmizer) X(optqmizer) \
  X(optrmizer) X(optsmizer) X(opttmizer) X(optumizer) X(optvmizer) X(optwmizer) X(optxmizer) X(optymizer) X(optzmizer) \
  X(optiaizer) X(optibizer) X(opticizer) X(optidizer) X(optieizer) X(optifizer) X(optigizer) X(optihizer) X(optiiizer) \
  X(optijizer) X(optikizer) X(optilizer) X(optinizer) X(optioizer) X(optipizer) X(optiqizer) X(optirizer) X(optisizer) \
  X(optitizer) X(optiuizer) X(optivizer) X(optiwizer) X(optixizer) X(optiyizer) X(optizizer) X(optimazer) X(optimbzer) \
  X(optimczer) X(optimdzer) X(optimezer) X(optimfzer) X(optimgzer) X(optimhzer) X(optimjzer) X(optimkzer) X(optimlzer) \
  X(optimmzer) X(optimnzer) X(optimozer) X(optimpzer) X(optimqzer) X(optimrzer) X(optimszer) X(optimtzer) X(optimuzer) \
  X(optimvzer) X(optimwzer) X(optimxzer) X(optimyzer) X(optimzzer) X(optimiaer) X(optimiber) X(optimicer) X(optimider) \
  X(optimieer) X(optimifer) X(optimiger) X(optimiher) X(optimiier) X(optimijer) X(optimiker) X(optimiler) X(optimimer) \
  X(optiminer) X(optimioer) X(optimiper) X(optimiqer) X(optimirer) X(optimiser) X(optimiter) X(optimiuer) X(optimiver) \
  X(optimiwer) X(optimixer) X(optimiyer) X(optimizar) X(optimizbr) X(optimizcr) X(optimizdr) X(optimizfr) X(optimizgr) \
  X(optimizhr) X(optimizir) X(optimizjr) X(optimizkr) X(optimizlr) X(optimizmr) X(optimiznr) X(optimizor) X(optimizpr) \
  X(optimizqr) X(optimizrr) X(optimizsr) X(optimiztr) X(optimizur) X(optimizvr) X(optimizwr) X(optimizxr) X(optimizyr) \
  X(optimizzr) X(optimizea) X(optimizeb) X(optimizec) X(optimized) X(optimizee) X(optimizef) X(optimizeg) X(optimizeh) \
  X(optimizei) X(optimizej) X(optimizek) X(optimizel) X(optimizem) X(optimizen) X(optimizeo) X(optimizep) X(optimizeq) \
  X(optimizes) X(optimizet) X(optimizeu) X(optimizev) X(optimizew) X(optimizex) X(optimizey) X(optimizez) \
  X(aoptimizer) X(boptimizer) X(coptimizer) X(doptimizer) X(eoptimizer) X(foptimizer) X(goptimizer) X(hoptimizer) \
  X(ioptimizer) X(joptimizer) X(koptimizer) X(loptimizer) X(moptimizer) X(noptimizer) X(ooptimizer) X(poptimizer) \
  X(qoptimizer) X(roptimizer) X(soptimizer) X(toptimizer) X(uoptimizer) X(voptimizer) X(woptimizer) X(xoptimizer) \
  X(yoptimizer) X(zoptimizer) X(oaptimizer) X(obptimizer) X(ocptimizer) X(odptimizer) X(oeptimizer) X(ofptimizer) \
  X(ogptimizer) X(ohptimizer) X(oiptimizer) X(ojptimizer) X(okptimizer) X(olptimizer) X(omptimizer) X(onptimizer) \
  X(opptimizer) X(oqptimizer) X(orptimizer) X(osptimizer) X(otptimizer) X(ouptimizer) X(ovptimizer) X(owptimizer) \
  X(oxptimizer) X(oyptimizer) X(ozptimizer) X(opatimizer) X(opbtimizer) X(opctimizer) X(opdtimizer) X(opetimizer) \
  X(opftimizer) X(opgtimizer) X(ophtimizer) X(opitimizer) X(opjtimizer) X(opktimizer) X(opltimizer) X(opmtimizer) \
  X(opntimizer) X(opotimizer) X(opqtimizer) X(oprtimizer) X(opstimizer) X(opttimizer) X(oputimizer) X(opvtimizer) \
  X(opwtimizer) X(opxtimizer) X(opytimizer) X(opztimizer) X(optaimizer) X(optbimizer) X(optcimizer) X(optdimizer) \
  X(opteimizer) X(optfimizer) X(optgimizer) X(opthimizer) X(optiimizer) X(optjimizer) X(optkimizer) X(optlimizer) \
  X(optmimizer) X(optnimizer) X(optoimizer) X(optpimizer) X(optqimizer) X(optrimizer) X(optsimizer) X(optuimizer) \
  X(optvimizer) X(optwimizer) X(optximizer) X(optyimizer) X(optzimizer) X(optiamizer) X(optibmizer) X(opticmizer) \
  X(optidmizer) X(optiemizer) X(optifmizer) X(optigmizer) X(optihmizer) X(optijmizer) X(optikmizer) X(optilmizer) \
  X(optimmizer) X(optinmizer) X(optiomizer) X(optipmizer) X(optiqmizer) X(optirmizer) X(optismizer) X(optitmizer) \
  X(optiumizer) X(optivmizer) X(optiwmizer) X(optixmizer) X(optiymizer) X(optizmizer) X(optimaizer) X(optimbizer) \
  X(optimcizer) X(optimdizer) X(optimeizer) X(optimfizer) X(optimgizer) X(optimhizer) X(optimiizer) X(optimjizer) \
  X(optimkizer) X(optimlizer) X(optimnizer) X(optimoizer) X(optimpizer) X(optimqizer) X(optimrizer) X(optimsizer) \
  X(optimtizer) X(optimuizer) X(optimvizer) X(optimwizer) X(optimxizer) X(optimyizer) X(optimzizer) X(optimiazer) \
  X(optimibzer) X(optimiczer) X(optimidzer) X(optimiezer) X(optimifzer) X(optimigzer) X(optimihzer) X(optimijzer) \
  X(optimikzer) X(optimilzer) X(optimimzer) X(optiminzer) X(optimiozer) X(optimipzer) X(optimiqzer) X(optimirzer) \
  X(optimiszer) X(optimitzer) X(optimiuzer) X(optimivzer) X(optimiwzer) X(optimixzer) X(optimiyzer) X(optimizzer) \
  X(optimizaer) X(optimizber) X(optimizcer) X(optimizder) X(optimizeer) X(optimizfer) X(optimizger) X(optimizher) \
  X(optimizier) X(optimizjer) X(optimizker) X(optimizler) X(optimizmer) X(optimizner) X(optimizoer) X(optimizper) \
  X(optimizqer) X(optimizrer) X(optimizser) X(optimizter) X(optimizuer) X(optimizver) X(optimizwer) X(optimizxer) \
  X(optimizyer) X(optimizear) X(optimizebr) X(optimizecr) X(optimizedr) X(optimizefr) X(optimizegr) X(optimizehr) \
  X(optimizeir) X(optimizejr) X(optimizekr) X(optimizelr) X(optimizemr) X(optimizenr) X(optimizeor) X(optimizepr) \
  X(optimizeqr) X(optimizerr) X(optimizesr) X(optimizetr) X(optimizeur) X(optimizevr) X(optimizewr) X(optimizexr) \
  X(optimizeyr) X(optimizezr) X(optimizera) X(optimizerb) X(optimizerc) X(optimizerd) X(optimizere) X(optimizerf) \
  X(optimizerg) X(optimizerh) X(optimizeri) X(optimizerj) X(optimizerk) X(optimizerl) X(optimizerm) X(optimizern) \
  X(optimizero) X(optimizerp) X(optimizerq) X(optimizers) X(optimizert) X(optimizeru) X(optimizerv) X(optimizerw) \
  X(optimizerx) X(optimizery) X(optimizerz)
#define MONOMORPH_NEAR_MISSES_OBJECTIVE(X) \
  X(bjective) X(ojective) X(obective) X(objctive) X(objetive) X(objecive) X(objectve) X(objectie) X(objectiv) \
  X(bojective) X(ojbective) X(obejctive) X(objcetive) X(objetcive) X(objecitve) X(objectvie) X(objectiev) X(abjective) \
  X(bbjective) X(cbjective) X(dbjective) X(ebjective) X(fbjective) X(gbjective) X(hbjective) X(ibjective) X(jbjective) \
  X(kbjective) X(lbjective) X(mbjective) X(nbjective) X(pbjective) X(qbjective) X(rbjective) X(sbjective) X(tbjective) \
  X(ubjective) X(vbjective) X(wbjective) X(xbjective) X(ybjective) X(zbjective) X(oajective) X(ocjective) X(odjective) \
  X(oejective) X(ofjective) X(ogjective) X(ohjective) X(oijective) X(ojjective) X(okjective) X(oljective) X(omjective) \
  X(onjective) X(oojective) X(opjective) X(oqjective) X(orjective) X(osjective) X(otjective) X(oujective) X(ovjective) \
  X(owjective) X(oxjective) X(oyjective) X(ozjective) X(obaective) X(obbective) X(obcective) X(obdective) X(obeective) \
  X(obfective) X(obgective) X(obhective) X(obiective) X(obkective) X(oblective) X(obmective) X(obnective) X(oboective) \
  X(obpective) X(obqective) X(obrective) X(obsective) X(obtective) X(obuective) X(obvective) X(obwective) X(obxective) \
  X(obyective) X(obzective) X(objactive) X(objbctive) X(objcctive) X(objdctive) X(objfctive) X(objgctive) X(objhctive) \
  X(objictive) X(objjctive) X(objkctive) X(objlctive) X(objmctive) X(objnctive) X(objoctive) X(objpctive) X(objqctive) \
  X(objrctive) X(objsctive) X(objtctive) X(objuctive) X(objvctive) X(objwctive) X(objxctive) X(objyctive) X(objzctive) \
  X(objeative) X(objebtive) X(objedtive) X(objeetive) X(objeftive) X(objegtive) X(objehtive) X(objeitive) X(objejtive) \
  X(objektive) X(objeltive) X(objemtive) X(objentive) X(objeotive) X(objeptive) X(objeqtive) X(objertive) X(objestive) \
  X(objettive) X(objeutive) X(objevtive) X(objewtive) X(objextive) X(objeytive) X(objeztive) X(objecaive) X(objecbive) \
  X(objeccive) X(objecdive) X(objeceive) X(objecfive) X(objecgive) X(objechive) X(objeciive) X(objecjive) X(objeckive) \
  X(objeclive) X(objecmive) X(objecnive) X(objecoive) X(objecpive) X(objecqive) X(objecrive) X(objecsive) X(objecuive) \
  X(objecvive) X(objecwive) X(objecxive) X(objecyive) X(objeczive) X(objectave) X(objectbve) X(objectcve) X(objectdve) \
  X(objecteve) X(objectfve) X(objectgve) X(objecthve) X(objectjve) X(objectkve) X(objectlve) X(objectmve) X(objectnve) \
  X(objectove) X(objectpve) X(objectqve) X(objectrve) X(objectsve) X(objecttve) X(objectuve) X(objectvve) X(objectwve) \
  X(objectxve) X(objectyve) X(objectzve) X(objectiae) X(objectibe) X(objectice) X(objectide) X(objectiee) X(objectife) \
  X(objectige) X(objectihe) X(objectiie) X(objectije) X(objectike) X(objectile) X(objectime) X(objectine) X(objectioe) \
  X(objectipe) X(objectiqe) X(objectire) X(objectise) X(objectite) X(objectiue) X(objectiwe) X(objectixe) X(objectiye) \
  X(objectize) X(objectiva) X(objectivb) X(objectivc) X(objectivd) X(objectivf) X(objectivg) X(objectivh) X(objectivi) \
  X(objectivj) X(objectivk) X(objectivl) X(objectivm) X(objectivn) X(objectivo) X(objectivp) X(objectivq) X(objectivr) \
  X(objectivs) X(objectivt) X(objectivu) X(objectivv) X(objectivw) X(objectivx) X(objectivy) X(objectivz) \
  X(aobjective) X(bobjective) X(cobjective) X(dobjective) X(eobjective) X(fobjective) X(gobjective) X(hobjective) \
  X(iobjective) X(jobjective) X(kobjective) X(lobjective) X(mobjective) X(nobjective) X(oobjective) X(pobjective) \
  X(qobjective) X(robjective) X(sobjective) X(tobjective) X(uobjective) X(vobjective) X(wobjective) X(xobjective) \
  X(yobjective) X(zobjective) X(oabjective) X(obbjective) X(ocbjective) X(odbjective) X(oebjective) X(ofbjective) \
  X(ogbjective) X(ohbjective) X(oibjective) X(ojbjective) X(okbjective) X(olbjective) X(ombjective) X(onbjective) \
  X(opbjective) X(oqbjective) X(orbjective) X(osbjective) X(otbjective) X(oubjective) X(ovbjective) X(owbjective) \
  X(oxbjective) X(oybjective) X(ozbjective) X(obajective) X(obcjective) X(obdjective) X(obejective) X(obfjective) \
  X(obgjective) X(obhjective) X(obijective) X(objjective) X(obkjective) X(obljective) X(obmjective) X(obnjective) \
  X(obojective) X(obpjective) X(obqjective) X(obrjective) X(obsjective) X(obtjective) X(obujective) X(obvjective) \
  X(obwjective) X(obxjective) X(obyjective) X(obzjective) X(objaective) X(objbective) X(objcective) X(objdective) \
  X(objeective) X(objfective) X(objgective) X(objhective) X(objiective) X(objkective) X(objlective) X(objmective) \
  X(objnective) X(objoective) X(objpective) X(objqective) X(objrective) X(objsective) X(objtective) X(objuective) \
  X(objvective) X(objwective) X(objxective) X(objyective) X(objzective) X(objeactive) X(objebctive) X(objecctive) \
  X(objedctive) X(objefctive) X(objegctive) X(objehctive) X(objeictive) X(objejctive) X(objekctive) X(objelctive) \
  X(objemctive) X(objenctive) X(objeoctive) X(objepctive) X(objeqctive) X(objerctive) X(objesctive) X(objetctive) \
  X(objeuctive) X(objevctive) X(objewctive) X(objexctive) X(objeyctive) X(objezctive) X(objecative) X(objecbtive) \
  X(objecdtive) X(objecetive) X(objecftive) X(objecgtive) X(objechtive) X(objecitive) X(objecjtive) X(objecktive) \
  X(objecltive) X(objecmtive) X(objecntive) X(objecotive) X(objecptive) X(objecqtive) X(objecrtive) X(objecstive) \
  X(objecttive) X(objecutive) X(objecvtive) X(objecwtive) X(objecxtive) X(objecytive) X(objecztive) X(objectaive) \
  X(objectbive) X(objectcive) X(objectdive) X(objecteive) X(objectfive) X(objectgive) X(objecthive) X(objectiive) \
  X(objectjive) X(objectkive) X(objectlive) X(objectmive) X(objectnive) X(objectoive) X(objectpive) X(objectqive) \
  X(objectrive) X(objectsive) X(objectuive) X(objectvive) X(objectwive) X(objectxive) X(objectyive) X(objectzive) \
  X(objectiave) X(objectibve) X(objecticve) X(objectidve) X(objectieve) X(objectifve) X(objectigve) X(objectihve) \
  X(objectijve) X(objectikve) X(objectilve) X(objectimve) X(objectinve) X(objectiove) X(objectipve) X(objectiqve) \
  X(objectirve) X(objectisve) X(objectitve) X(objectiuve) X(objectivve) X(objectiwve) X(objectixve) X(objectiyve) \
  X(objectizve) X(objectivae) X(objectivbe) X(objectivce) X(objectivde) X(objectivee) X(objectivfe) X(objectivge) \
  X(objectivhe) X(objectivie) X(objectivje) X(objectivke) X(objectivle) X(objectivme) X(objectivne) X(objectivoe) \
  X(objectivpe) X(objectivqe) X(objectivre) X(objectivse) X(objectivte) X(objectivue) X(objectivwe) X(objectivxe) \
  X(objectivye) X(objectivze) X(objectivea) X(objectiveb) X(objectivec) X(objectived) X(objectivef) X(objectiveg) \
  X(objectiveh) X(objectivei) X(objectivej) X(objectivek) X(objectivel) X(objectivem) X(objectiven) X(objectiveo) \
  X(objectivep) X(objectiveq) X(objectiver) X(objectives) X(objectivet) X(objectiveu) X(objectivev) X(objectivew) \
  X(objectivex) X(objectivey) X(objectivez)
#define MONOMORPH_NEAR_MISSES_ATTENTION(X) \
  X(ttention) X(atention) X(attntion) X(attetion) X(attenion) X(attenton) X(attentin) X(attentio) X(tatention) \
  X(atetntion) X(attnetion) X(attetnion) X(atteniton) X(attentoin) X(attentino) X(bttention) X(cttention) X(dttention) \
  X(ettention) X(fttention) X(gttention) X(httention) X(ittention) X(jttention) X(kttention) X(lttention) X(mttention) \
  X(nttention) X(ottention) X(pttention) X(qttention) X(rttention) X(sttention) X(tttention) X(uttention) X(vttention) \
  X(wttention) X(xttention) X(yttention) X(zttention) X(aatention) X(abtention) X(actention) X(adtention) X(aetention) \
  X(aftention) X(agtention) X(ahtention) X(aitention) X(ajtention) X(aktention) X(altention) X(amtention) X(antention) \
  X(aotention) X(aptention) X(aqtention) X(artention) X(astention) X(autention) X(avtention) X(awtention) X(axtention) \
  X(aytention) X(aztention) X(ataention) X(atbention) X(atcention) X(atdention) X(ateention) X(atfention) X(atgention) \
  X(athention) X(atiention) X(atjention) X(atkention) X(atlention) X(atmention) X(atnention) X(atoention) X(atpention) \
  X(atqention) X(atrention) X(atsention) X(atuention) X(atvention) X(atwention) X(atxention) X(atyention) X(atzention) \
  X(attantion) X(attbntion) X(attcntion) X(attdntion) X(attfntion) X(attgntion) X(atthntion) X(attintion) X(attjntion) \
  X(attkntion) X(attlntion) X(attmntion) X(attnntion) X(attontion) X(attpntion) X(attqntion) X(attrntion) X(attsntion) \
  X(atttntion) X(attuntion) X(attvntion) X(attwntion) X(attxntion) X(attyntion) X(attzntion) X(atteation) X(attebtion) \
  X(attection) X(attedtion) X(atteetion) X(atteftion) X(attegtion) X(attehtion) X(atteition) X(attejtion) X(attektion) \
  X(atteltion) X(attemtion) X(atteotion) X(atteption) X(atteqtion) X(attertion) X(attestion) X(attettion) X(atteution) \
  X(attevtion) X(attewtion) X(attextion) X(atteytion) X(atteztion) X(attenaion) X(attenbion) X(attencion) X(attendion) \
  X(atteneion) X(attenfion) X(attengion) X(attenhion) X(atteniion) X(attenjion) X(attenkion) X(attenlion) X(attenmion) \
  X(attennion) X(attenoion) X(attenpion) X(attenqion) X(attenrion) X(attension) X(attenuion) X(attenvion) X(attenwion) \
  X(attenxion) X(attenyion) X(attenzion) X(attentaon) X(attentbon) X(attentcon) X(attentdon) X(attenteon) X(attentfon) \
  X(attentgon) X(attenthon) X(attentjon) X(attentkon) X(attentlon) X(attentmon) X(attentnon) X(attentoon) X(attentpon) \
  X(attentqon) X(attentron) X(attentson) X(attentton) X(attentuon) X(attentvon) X(attentwon) X(attentxon) X(attentyon) \
  X(attentzon) X(attentian) X(attentibn) X(attenticn) X(attentidn) X(attentien) X(attentifn) X(attentign) X(attentihn) \
  X(attentiin) X(attentijn) X(attentikn) X(attentiln) X(attentimn) X(attentinn) X(attentipn) X(attentiqn) X(attentirn) \
  X(attentisn) X(attentitn) X(attentiun) X(attentivn) X(attentiwn) X(attentixn) X(attentiyn) X(attentizn) X(attentioa) \
  X(attentiob) X(attentioc) X(attentiod) X(attentioe) X(attentiof) X(attentiog) X(attentioh) X(attentioi) X(attentioj) \
  X(attentiok) X(attentiol) X(attentiom) X(attentioo) X(attentiop) X(attentioq) X(attentior) X(attentios) X(attentiot) \
  X(attentiou) X(attentiov) X(attentiow) X(attentiox) X(attentioy) X(attentioz) X(aattention) X(battention) \
  X(cattention) X(dattention) X(eattention) X(fattention) X(gattention) X(hattention) X(iattention) X(jattention) \
  X(kattention) X(lattention) X(mattention) X(nattention) X(oattention) X(pattention) X(qattention) X(rattention) \
  X(sattention) X(tattention) X(uattention) X(vattention) X(wattention) X(xattention) X(yattention) X(zattention) \
  X(abttention) X(acttention) X(adttention) X(aettention) X(afttention) X(agttention) X(ahttention) X(aittention) \
  X(ajttention) X(akttention) X(alttention) X(amttention) X(anttention) X(aottention) X(apttention) X(aqttention) \
  X(arttention) X(asttention) X(atttention) X(auttention) X(avttention) X(awttention) X(axttention) X(ayttention) \
  X(azttention) X(atatention) X(atbtention) X(atctention) X(atdtention) X(atetention) X(atftention) X(atgtention) \
  X(athtention) X(atitention) X(atjtention) X(atktention) X(atltention) X(atmtention) X(atntention) X(atotention) \
  X(atptention) X(atqtention) X(atrtention) X(atstention) X(atutention) X(atvtention) X(atwtention) X(atxtention) \
  X(atytention) X(atztention) X(attaention) X(attbention) X(attcention) X(attdention) X(atteention) X(attfention) \
  X(attgention) X(atthention) X(attiention) X(attjention) X(attkention) X(attlention) X(attmention) X(attnention) \
  X(attoention) X(attpention) X(attqention) X(attrention) X(attsention) X(attuention) X(attvention) X(attwention) \
  X(attxention) X(attyention) X(attzention) X(atteantion) X(attebntion) X(attecntion) X(attedntion) X(attefntion) \
  X(attegntion) X(attehntion) X(atteintion) X(attejntion) X(attekntion) X(attelntion) X(attemntion) X(attenntion) \
  X(atteontion) X(attepntion) X(atteqntion) X(atterntion) X(attesntion) X(attetntion) X(atteuntion) X(attevntion) \
  X(attewntion) X(attexntion) X(atteyntion) X(attezntion) X(attenation) X(attenbtion) X(attenction) X(attendtion) \
  X(attenetion) X(attenftion) X(attengtion) X(attenhtion) X(attenition) X(attenjtion) X(attenktion) X(attenltion) \
  X(attenmtion) X(attenotion) X(attenption) X(attenqtion) X(attenrtion) X(attenstion) X(attenttion) X(attenution) \
  X(attenvtion) X(attenwtion) X(attenxtion) X(attenytion) X(attenztion) X(attentaion) X(attentbion) X(attentcion) \
  X(attentdion) X(attenteion) X(attentfion) X(attentgion) X(attenthion) X(attentiion) X(attentjion) X(attentkion) \
  X(attentlion) X(attentmion) X(attentnion) X(attentoion) X(attentpion) X(attentqion) X(attentrion) X(attentsion) \
  X(attentuion) X(attentvion) X(attentwion) X(attentxion) X(attentyion) X(attentzion) X(attentiaon) X(attentibon) \
  X(attenticon) X(attentidon) X(attentieon) X(attentifon) X(attentigon) X(attentihon) X(attentijon) X(attentikon) \
  X(attentilon) X(attentimon) X(attentinon) X(attentioon) X(attentipon) X(attentiqon) X(attentiron) X(attentison) \
  X(attentiton) X(attentiuon) X(attentivon) X(attentiwon) X(attentixon) X(attentiyon) X(attentizon) X(attentioan) \
  X(attentiobn) X(attentiocn) X(attentiodn) X(attentioen) X(attentiofn) X(attentiogn) X(attentiohn) X(attentioin) \
  X(attentiojn) X(attentiokn) X(attentioln) X(attentiomn) X(attentionn) X(attentiopn) X(attentioqn) X(attentiorn) \
  X(attentiosn) X(attentiotn) X(attentioun) X(attentiovn) X(attentiown) X(attentioxn) X(attentioyn) X(attentiozn) \
  X(attentiona) X(attentionb) X(attentionc) X(attentiond) X(attentione) X(attentionf) X(attentiong) X(attentionh) \
  X(attentioni) X(attentionj) X(attentionk) X(attentionl) X(attentionm) X(attentiono) X(attentionp) X(attentionq) \
  X(attentionr) X(attentions) X(attentiont) X(attentionu) X(attentionv) X(attentionw) X(attentionx) X(attentiony) \
  X(attentionz)
#define MONOMORPH_NEAR_MISSES_MESH(X) \
  X(esh) X(msh) X(meh) X(mes) X(emsh) X(mseh) X(mehs) X(aesh) X(besh) X(cesh) X(desh) X(eesh) X(fesh) X(gesh) X(hesh) \
  X(iesh) X(jesh) X(kesh) X(lesh) X(nesh) X(oesh) X(pesh) X(qesh) X(resh) X(sesh) X(tesh) X(uesh) X(vesh) X(wesh) \
  X(xesh) X(yesh) X(zesh) X(mash) X(mbsh) X(mcsh) X(mdsh) X(mfsh) X(mgsh) X(mhsh) X(mish) X(mjsh) X(mksh) X(mlsh) \
  X(mmsh) X(mnsh) X(mosh) X(mpsh) X(mqsh) X(mrsh) X(mssh) X(mtsh) X(mush) X(mvsh) X(mwsh) X(mxsh) X(mysh) X(mzsh) \
  X(meah) X(mebh) X(mech) X(medh) X(meeh) X(mefh) X(megh) X(mehh) X(meih) X(mejh) X(mekh) X(melh) X(memh) X(menh) \
  X(meoh) X(meph) X(meqh) X(merh) X(meth) X(meuh) X(mevh) X(mewh) X(mexh) X(meyh) X(mezh) X(mesa) X(mesb) X(mesc) \
  X(mesd) X(mese) X(mesf) X(mesg) X(mesi) X(mesj) X(mesk) X(mesl) X(mesm) X(mesn) X(meso) X(mesp) X(mesq) X(mesr) \
  X(mess) X(mest) X(mesu) X(mesv) X(mesw) X(mesx) X(mesy) X(mesz) X(amesh) X(bmesh) X(cmesh) X(dmesh) X(emesh) \
  X(fmesh) X(gmesh) X(hmesh) X(imesh) X(jmesh) X(kmesh) X(lmesh) X(mmesh) X(nmesh) X(omesh) X(pmesh) X(qmesh) X(rmesh) \
  X(smesh) X(tmesh) X(umesh) X(vmesh) X(wmesh) X(xmesh) X(ymesh) X(zmesh) X(maesh) X(mbesh) X(mcesh) X(mdesh) X(meesh) \
  X(mfesh) X(mgesh) X(mhesh) X(miesh) X(mjesh) X(mkesh) X(mlesh) X(mnesh) X(moesh) X(mpesh) X(mqesh) X(mresh) X(msesh) \
  X(mtesh) X(muesh) X(mvesh) X(mwesh) X(mxesh) X(myesh) X(mzesh) X(meash) X(mebsh) X(mecsh) X(medsh) X(mefsh) X(megsh) \
  X(mehsh) X(meish) X(mejsh) X(meksh) X(melsh) X(memsh) X(mensh) X(meosh) X(mepsh) X(meqsh) X(mersh) X(messh) X(metsh) \
  X(meush) X(mevsh) X(mewsh) X(mexsh) X(meysh) X(mezsh) X(mesah) X(mesbh) X(mesch) X(mesdh) X(meseh) X(mesfh) X(mesgh) \
  X(meshh) X(mesih) X(mesjh) X(meskh) X(meslh) X(mesmh) X(mesnh) X(mesoh) X(mesph) X(mesqh) X(mesrh) X(mesth) X(mesuh) \
  X(mesvh) X(meswh) X(mesxh) X(mesyh) X(meszh) X(mesha) X(meshb) X(meshc) X(meshd) X(meshe) X(meshf) X(meshg) X(meshi) \
  X(meshj) X(meshk) X(meshl) X(meshm) X(meshn) X(mesho) X(meshp) X(meshq) X(meshr) X(meshs) X(mesht) X(meshu) X(meshv) \
  X(meshw) X(meshx) X(meshy) X(meshz)
#define MONOMORPH_NEAR_MISSES_LAYERS(X) \
  X(ayers) X(lyers) X(laers) X(layrs) X(layes) X(layer) X(alyers) X(lyaers) X(laeyrs) X(layres) X(layesr) X(aayers) \
  X(bayers) X(cayers) X(dayers) X(eayers) X(fayers) X(gayers) X(hayers) X(iayers) X(jayers) X(kayers) X(mayers) \
  X(nayers) X(oayers) X(payers) X(qayers) X(rayers) X(sayers) X(tayers) X(uayers) X(vayers) X(wayers) X(xayers) \
  X(yayers) X(zayers) X(lbyers) X(lcyers) X(ldyers) X(leyers) X(lfyers) X(lgyers) X(lhyers) X(liyers) X(ljyers) \
  X(lkyers) X(llyers) X(lmyers) X(lnyers) X(loyers) X(lpyers) X(lqyers) X(lryers) X(lsyers) X(ltyers) X(luyers) \
  X(lvyers) X(lwyers) X(lxyers) X(lyyers) X(lzyers) X(laaers) X(labers) X(lacers) X(laders) X(laeers) X(lafers) \
  X(lagers) X(lahers) X(laiers) X(lajers) X(lakers) X(lalers) X(lamers) X(laners) X(laoers) X(lapers) X(laqers) \
  X(larers) X(lasers) X(laters) X(lauers) X(lavers) X(lawers) X(laxers) X(lazers) X(layars) X(laybrs) X(laycrs) \
  X(laydrs) X(layfrs) X(laygrs) X(layhrs) X(layirs) X(layjrs) X(laykrs) X(laylrs) X(laymrs) X(laynrs) X(layors) \
  X(layprs) X(layqrs) X(layrrs) X(laysrs) X(laytrs) X(layurs) X(layvrs) X(laywrs) X(layxrs) X(layyrs) X(layzrs) \
  X(layeas) X(layebs) X(layecs) X(layeds) X(layees) X(layefs) X(layegs) X(layehs) X(layeis) X(layejs) X(layeks) \
  X(layels) X(layems) X(layens) X(layeos) X(layeps) X(layeqs) X(layess) X(layets) X(layeus) X(layevs) X(layews) \
  X(layexs) X(layeys) X(layezs) X(layera) X(layerb) X(layerc) X(layerd) X(layere) X(layerf) X(layerg) X(layerh) \
  X(layeri) X(layerj) X(layerk) X(layerl) X(layerm) X(layern) X(layero) X(layerp) X(layerq) X(layerr) X(layert) \
  X(layeru) X(layerv) X(layerw) X(layerx) X(layery) X(layerz) X(alayers) X(blayers) X(clayers) X(dlayers) X(elayers) \
  X(flayers) X(glayers) X(hlayers) X(ilayers) X(jlayers) X(klayers) X(llayers) X(mlayers) X(nlayers) X(olayers) \
  X(players) X(qlayers) X(rlayers) X(slayers) X(tlayers) X(ulayers) X(vlayers) X(wlayers) X(xlayers) X(ylayers) \
  X(zlayers) X(laayers) X(lbayers) X(lcayers) X(ldayers) X(leayers) X(lfayers) X(lgayers) X(lhayers) X(liayers) \
  X(ljayers) X(lkayers) X(lmayers) X(lnayers) X(loayers) X(lpayers) X(lqayers) X(lrayers) X(lsayers) X(ltayers) \
  X(luayers) X(lvayers) X(lwayers) X(lxayers) X(lyayers) X(lzayers) X(labyers) X(lacyers) X(ladyers) X(laeyers) \
  X(lafyers) X(lagyers) X(lahyers) X(laiyers) X(lajyers) X(lakyers) X(lalyers) X(lamyers) X(lanyers) X(laoyers) \
  X(lapyers) X(laqyers) X(laryers) X(lasyers) X(latyers) X(lauyers) X(lavyers) X(lawyers) X(laxyers) X(layyers) \
  X(lazyers) X(layaers) X(laybers) X(laycers) X(layders) X(layeers) X(layfers) X(laygers) X(layhers) X(layiers) \
  X(layjers) X(laykers) X(laylers) X(laymers) X(layners) X(layoers) X(laypers) X(layqers) X(layrers) X(laysers) \
  X(layters) X(layuers) X(layvers) X(laywers) X(layxers) X(layzers) X(layears) X(layebrs) X(layecrs) X(layedrs) \
  X(layefrs) X(layegrs) X(layehrs) X(layeirs) X(layejrs) X(layekrs) X(layelrs) X(layemrs) X(layenrs) X(layeors) \
  X(layeprs) X(layeqrs) X(layerrs) X(layesrs) X(layetrs) X(layeurs) X(layevrs) X(layewrs) X(layexrs) X(layeyrs) \
  X(layezrs) X(layeras) X(layerbs) X(layercs) X(layerds) X(layeres) X(layerfs) X(layergs) X(layerhs) X(layeris) \
  X(layerjs) X(layerks) X(layerls) X(layerms) X(layerns) X(layeros) X(layerps) X(layerqs) X(layerss) X(layerts) \
  X(layerus) X(layervs) X(layerws) X(layerxs) X(layerys) X(layerzs) X(layersa) X(layersb) X(layersc) X(layersd) \
  X(layerse) X(layersf) X(layersg) X(layersh) X(layersi) X(layersj) X(layersk) X(layersl) X(layersm) X(layersn) \
  X(layerso) X(layersp) X(layersq) X(layersr) X(layerst) X(layersu) X(layersv) X(layersw) X(layersx) X(layersy) \
  X(layersz)
#define MONOMORPH_NEAR_MISSES_BUDGET(X) \
  X(udget) X(bdget) X(buget) X(budet) X(budgt) X(budge) X(ubdget) X(bduget) X(bugdet) X(budegt) X(budgte) X(audget) \
  X(cudget) X(dudget) X(eudget) X(fudget) X(gudget) X(hudget) X(iudget) X(judget) X(kudget) X(ludget) X(mudget) \
  X(nudget) X(oudget) X(pudget) X(qudget) X(rudget) X(sudget) X(tudget) X(uudget) X(vudget) X(wudget) X(xudget) \
  X(yudget) X(zudget) X(badget) X(bbdget) X(bcdget) X(bddget) X(bedget) X(bfdget) X(bgdget) X(bhdget) X(bidget) \
  X(bjdget) X(bkdget) X(bldget) X(bmdget) X(bndget) X(bodget) X(bpdget) X(bqdget) X(brdget) X(bsdget) X(btdget) \
  X(bvdget) X(bwdget) X(bxdget) X(bydget) X(bzdget) X(buaget) X(bubget) X(bucget) X(bueget) X(bufget) X(bugget) \
  X(buhget) X(buiget) X(bujget) X(bukget) X(bulget) X(bumget) X(bunget) X(buoget) X(bupget) X(buqget) X(burget) \
  X(busget) X(butget) X(buuget) X(buvget) X(buwget) X(buxget) X(buyget) X(buzget) X(budaet) X(budbet) X(budcet) \
  X(buddet) X(budeet) X(budfet) X(budhet) X(budiet) X(budjet) X(budket) X(budlet) X(budmet) X(budnet) X(budoet) \
  X(budpet) X(budqet) X(budret) X(budset) X(budtet) X(buduet) X(budvet) X(budwet) X(budxet) X(budyet) X(budzet) \
  X(budgat) X(budgbt) X(budgct) X(budgdt) X(budgft) X(budggt) X(budght) X(budgit) X(budgjt) X(budgkt) X(budglt) \
  X(budgmt) X(budgnt) X(budgot) X(budgpt) X(budgqt) X(budgrt) X(budgst) X(budgtt) X(budgut) X(budgvt) X(budgwt) \
  X(budgxt) X(budgyt) X(budgzt) X(budgea) X(budgeb) X(budgec) X(budged) X(budgee) X(budgef) X(budgeg) X(budgeh) \
  X(budgei) X(budgej) X(budgek) X(budgel) X(budgem) X(budgen) X(budgeo) X(budgep) X(budgeq) X(budger) X(budges) \
  X(budgeu) X(budgev) X(budgew) X(budgex) X(budgey) X(budgez) X(abudget) X(bbudget) X(cbudget) X(dbudget) X(ebudget) \
  X(fbudget) X(gbudget) X(hbudget) X(ibudget) X(jbudget) X(kbudget) X(lbudget) X(mbudget) X(nbudget) X(obudget) \
  X(pbudget) X(qbudget) X(rbudget) X(sbudget) X(tbudget) X(ubudget) X(vbudget) X(wbudget) X(xbudget) X(ybudget) \
  X(zbudget) X(baudget) X(bcudget) X(bdudget) X(beudget) X(bfudget) X(bgudget) X(bhudget) X(biudget) X(bjudget) \
  X(bkudget) X(bludget) X(bmudget) X(bnudget) X(boudget) X(bpudget) X(bqudget) X(brudget) X(bsudget) X(btudget) \
  X(buudget) X(bvudget) X(bwudget) X(bxudget) X(byudget) X(bzudget) X(buadget) X(bubdget) X(bucdget) X(buddget) \
  X(buedget) X(bufdget) X(bugdget) X(buhdget) X(buidget) X(bujdget) X(bukdget) X(buldget) X(bumdget) X(bundget) \
  X(buodget) X(bupdget) X(buqdget) X(burdget) X(busdget) X(butdget) X(buvdget) X(buwdget) X(buxdget) X(buydget) \
  X(buzdget) X(budaget) X(budbget) X(budcget) X(budeget) X(budfget) X(budgget) X(budhget) X(budiget) X(budjget) \
  X(budkget) X(budlget) X(budmget) X(budnget) X(budoget) X(budpget) X(budqget) X(budrget) X(budsget) X(budtget) \
  X(buduget) X(budvget) X(budwget) X(budxget) X(budyget) X(budzget) X(budgaet) X(budgbet) X(budgcet) X(budgdet) \
  X(budgeet) X(budgfet) X(budghet) X(budgiet) X(budgjet) X(budgket) X(budglet) X(budgmet) X(budgnet) X(budgoet) \
  X(budgpet) X(budgqet) X(budgret) X(budgset) X(budgtet) X(budguet) X(budgvet) X(budgwet) X(budgxet) X(budgyet) \
  X(budgzet) X(budgeat) X(budgebt) X(budgect) X(budgedt) X(budgeft) X(budgegt) X(budgeht) X(budgeit) X(budgejt) \
  X(budgekt) X(budgelt) X(budgemt) X(budgent) X(budgeot) X(budgept) X(budgeqt) X(budgert) X(budgest) X(budgett) \
  X(budgeut) X(budgevt) X(budgewt) X(budgext) X(budgeyt) X(budgezt) X(budgeta) X(budgetb) X(budgetc) X(budgetd) \
  X(budgete) X(budgetf) X(budgetg) X(budgeth) X(budgeti) X(budgetj) X(budgetk) X(budgetl) X(budgetm) X(budgetn) \
  X(budgeto) X(budgetp) X(budgetq) X(budgetr) X(budgets) X(budgetu) X(budgetv) X(budgetw) X(budgetx) X(budgety) \
  X(budgetz)
#define MONOMORPH_NEAR_MISSES_EXPECT(X) \
  X(xpect) X(epect) X(exect) X(expct) X(expet) X(expec) X(xepect) X(epxect) X(exepct) X(expcet) X(expetc) X(axpect) \
  X(bxpect) X(cxpect) X(dxpect) X(fxpect) X(gxpect) X(hxpect) X(ixpect) X(jxpect) X(kxpect) X(lxpect) X(mxpect) \
  X(nxpect) X(oxpect) X(pxpect) X(qxpect) X(rxpect) X(sxpect) X(txpect) X(uxpect) X(vxpect) X(wxpect) X(xxpect) \
  X(yxpect) X(zxpect) X(eapect) X(ebpect) X(ecpect) X(edpect) X(eepect) X(efpect) X(egpect) X(ehpect) X(eipect) \
  X(ejpect) X(ekpect) X(elpect) X(empect) X(enpect) X(eopect) X(eppect) X(eqpect) X(erpect) X(espect) X(etpect) \
  X(eupect) X(evpect) X(ewpect) X(eypect) X(ezpect) X(exaect) X(exbect) X(excect) X(exdect) X(exeect) X(exfect) \
  X(exgect) X(exhect) X(exiect) X(exject) X(exkect) X(exlect) X(exmect) X(exnect) X(exoect) X(exqect) X(exrect) \
  X(exsect) X(extect) X(exuect) X(exvect) X(exwect) X(exxect) X(exyect) X(exzect) X(expact) X(expbct) X(expcct) \
  X(expdct) X(expfct) X(expgct) X(exphct) X(expict) X(expjct) X(expkct) X(explct) X(expmct) X(expnct) X(expoct) \
  X(exppct) X(expqct) X(exprct) X(expsct) X(exptct) X(expuct) X(expvct) X(expwct) X(expxct) X(expyct) X(expzct) \
  X(expeat) X(expebt) X(expedt) X(expeet) X(expeft) X(expegt) X(expeht) X(expeit) X(expejt) X(expekt) X(expelt) \
  X(expemt) X(expent) X(expeot) X(expept) X(expeqt) X(expert) X(expest) X(expett) X(expeut) X(expevt) X(expewt) \
  X(expext) X(expeyt) X(expezt) X(expeca) X(expecb) X(expecc) X(expecd) X(expece) X(expecf) X(expecg) X(expech) \
  X(expeci) X(expecj) X(expeck) X(expecl) X(expecm) X(expecn) X(expeco) X(expecp) X(expecq) X(expecr) X(expecs) \
  X(expecu) X(expecv) X(expecw) X(expecx) X(expecy) X(expecz) X(aexpect) X(bexpect) X(cexpect) X(dexpect) X(eexpect) \
  X(fexpect) X(gexpect) X(hexpect) X(iexpect) X(jexpect) X(kexpect) X(lexpect) X(mexpect) X(nexpect) X(oexpect) \
  X(pexpect) X(qexpect) X(rexpect) X(sexpect) X(texpect) X(uexpect) X(vexpect) X(wexpect) X(xexpect) X(yexpect) \
  X(zexpect) X(eaxpect) X(ebxpect) X(ecxpect) X(edxpect) X(efxpect) X(egxpect) X(ehxpect) X(eixpect) X(ejxpect) \
  X(ekxpect) X(elxpect) X(emxpect) X(enxpect) X(eoxpect) X(epxpect) X(eqxpect) X(erxpect) X(esxpect) X(etxpect) \
  X(euxpect) X(evxpect) X(ewxpect) X(exxpect) X(eyxpect) X(ezxpect) X(exapect) X(exbpect) X(excpect) X(exdpect) \
  X(exepect) X(exfpect) X(exgpect) X(exhpect) X(exipect) X(exjpect) X(exkpect) X(exlpect) X(exmpect) X(exnpect) \
  X(exopect) X(exppect) X(exqpect) X(exrpect) X(exspect) X(extpect) X(exupect) X(exvpect) X(exwpect) X(exypect) \
  X(exzpect) X(expaect) X(expbect) X(expcect) X(expdect) X(expeect) X(expfect) X(expgect) X(exphect) X(expiect) \
  X(expject) X(expkect) X(explect) X(expmect) X(expnect) X(expoect) X(expqect) X(exprect) X(expsect) X(exptect) \
  X(expuect) X(expvect) X(expwect) X(expxect) X(expyect) X(expzect) X(expeact) X(expebct) X(expecct) X(expedct) \
  X(expefct) X(expegct) X(expehct) X(expeict) X(expejct) X(expekct) X(expelct) X(expemct) X(expenct) X(expeoct) \
  X(expepct) X(expeqct) X(experct) X(expesct) X(expetct) X(expeuct) X(expevct) X(expewct) X(expexct) X(expeyct) \
  X(expezct) X(expecat) X(expecbt) X(expecdt) X(expecet) X(expecft) X(expecgt) X(expecht) X(expecit) X(expecjt) \
  X(expeckt) X(expeclt) X(expecmt) X(expecnt) X(expecot) X(expecpt) X(expecqt) X(expecrt) X(expecst) X(expectt) \
  X(expecut) X(expecvt) X(expecwt) X(expecxt) X(expecyt) X(expeczt) X(expecta) X(expectb) X(expectc) X(expectd) \
  X(expecte) X(expectf) X(expectg) X(expecth) X(expecti) X(expectj) X(expectk) X(expectl) X(expectm) X(expectn) \
  X(expecto) X(expectp) X(expectq) X(expectr) X(expects) X(expectu) X(expectv) X(expectw) X(expectx) X(expecty) \
  X(expectz)

#define MONOMORPH_NEAR_MISSES(X) \
  MONOMORPH_NEAR_MISSES_MODEL(X) MONOMORPH_NEAR_MISSES_SHARDING(X) MONOMORPH_NEAR_MISSES_PRECISION(X) \
  MONOMORPH_NEAR_MISSES_CHECKPOINTING(X) MONOMORPH_NEAR_MISSES_OPTIMIZER(X) MONOMORPH_NEAR_MISSES_OBJECTIVE(X) \
  MONOMORPH_NEAR_MISSES_ATTENTION(X) MONOMORPH_NEAR_MISSES_MESH(X) MONOMORPH_NEAR_MISSES_LAYERS(X) \
  MONOMORPH_NEAR_MISSES_BUDGET(X) MONOMORPH_NEAR_MISSES_EXPECT(X)
// clang-format on
